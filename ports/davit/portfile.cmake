# ports/release writes the address and the commit.
vcpkg_from_git(
    OUT_SOURCE_PATH SOURCE_PATH
    URL "https://davit.invalid/davit.git"
    REF 945cb8cc3c213b88fc94de16a6e5eef3653188c3
    HEAD_REF main
)

vcpkg_check_features(OUT_FEATURE_OPTIONS FEATURE_OPTIONS
    FEATURES
        compiled DAVIT_COMPILED
        formats  DAVIT_FORMATS
        onednn   DAVIT_ONEDNN
        tool     DAVIT_TOOL
        xnnpack  DAVIT_XNNPACK
)
if(NOT DAVIT_COMPILED)
    set(VCPKG_BUILD_TYPE release) # headers, and the command
endif()

vcpkg_cmake_configure(
    SOURCE_PATH "${SOURCE_PATH}"
    OPTIONS
        ${FEATURE_OPTIONS}
    OPTIONS_DEBUG
        -DDAVIT_TOOL=OFF
)
vcpkg_cmake_install()
vcpkg_cmake_config_fixup(CONFIG_PATH lib/cmake/davit)
vcpkg_fixup_pkgconfig()
if(DAVIT_TOOL)
    vcpkg_copy_tools(TOOL_NAMES davit AUTO_CLEAN)
endif()

file(REMOVE_RECURSE "${CURRENT_PACKAGES_DIR}/debug/include" "${CURRENT_PACKAGES_DIR}/debug/share")
file(INSTALL "${CMAKE_CURRENT_LIST_DIR}/usage" DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
vcpkg_install_copyright(FILE_LIST "${SOURCE_PATH}/LICENSE")
