// Written by `davit embed`: digits_cnn_b1, exported by torch 2.6.0+debian.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "davit/embed/static_program.hpp"

/// The constants that constant evaluation reads, and those too small for the blob.
namespace digits_cnn_b1_constants {
alignas(16) inline constexpr std::array<float, 72> p_0_weight{
    -0.03549455f, 0.010380607f, -0.18912184f, -0.30045956f, -0.17381237f, -0.2934709f, 0.18325232f, 0.024084292f, 0.3040364f,
    -0.09417431f, -0.30192986f, -0.2335771f, 0.29114407f, 0.08344421f, 0.1779488f, 0.09123334f, -0.27142626f, -0.09446532f,
    0.111283906f, -0.10659437f, 0.25874114f, 0.35954633f, 0.24568456f, -0.22673136f, -0.107865386f, -0.11264529f, 0.35835356f,
    -0.13656873f, 0.113723114f, -0.28059015f, -0.27124274f, -0.1698888f, 0.08336266f, -0.22356881f, 0.21575892f, 0.38692358f,
    0.12726752f, 0.14177676f, -0.16637535f, 0.13402943f, 0.104939185f, -0.103489436f, 0.15575188f, -0.22107941f, -0.2215255f,
    0.15589644f, -0.3458323f, 0.35936612f, -0.15696856f, 0.13368712f, -0.08877528f, -0.17577347f, 0.03309964f, 0.05280067f,
    0.1745271f, 0.18775854f, 0.26430148f, 0.18836203f, 0.013221812f, -0.075352706f, -0.35669684f, -0.022688894f, -0.03900937f,
    -0.2573495f, -0.11551951f, 0.3308591f, 0.024455981f, -0.1836707f, -0.058923982f, 0.24163744f, -0.01750524f, -0.060287613f,};
alignas(16) inline constexpr std::array<float, 8> p_0_bias{
    -0.0050969278f, 0.20402414f, 0.37445202f, 0.28738785f, 0.04939548f, -0.28937152f, -0.09489187f, -0.21869256f,};
alignas(16) inline constexpr std::array<float, 8> p_1_weight{
    1.7131718f, 1.5982826f, 1.6540881f, 1.708031f, 1.4849143f, 1.524823f, 1.732431f, 1.654129f,};
alignas(16) inline constexpr std::array<float, 8> p_1_bias{
    0.13854915f, 0.19997084f, 0.5719534f, 0.3810553f, 0.011076359f, 0.14684872f, 0.17674285f, 0.11978933f,};
alignas(16) inline constexpr std::array<float, 16> p_4_bias{
    0.048561472f, -0.018781792f, 0.06556744f, -0.16017865f, 0.012333204f, 0.09318672f, 0.13135396f, -0.010025467f, -0.14160836f,
    0.23163891f, 0.18633859f, -0.11683235f, 0.03128814f, -0.039318413f, -0.012340014f, -0.086420245f,};
alignas(16) inline constexpr std::array<float, 1024> p_8_weight{
    0.20217368f, 0.11915724f, 0.16161571f, 0.033316646f, -0.099203736f, -0.25600043f, 0.19771463f, 0.1765662f, -0.3136133f,
    -0.3977583f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, -0.15190159f, -0.094903745f, 0.039193075f, -0.18871406f, 0.124191515f,
    0.4395404f, 0.26539326f, -0.20253086f, -0.1538199f, -0.38117775f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, -0.15728247f,
    0.13215575f, -0.09329109f, 0.047510568f, -0.2102387f, 0.049972888f, -0.48264387f, 0.10550045f, -0.35411042f, 0.28912443f,
    0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.13254039f, -0.05957056f, 0.17048725f, -0.41894835f, 0.29854053f, -0.17390728f,
    -0.38029644f, 0.25706348f, -0.15279852f, 0.24757831f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, -0.43098974f, -0.30411893f,
    -0.43089128f, 0.07952993f, -0.4430304f, 0.39227667f, 0.15413289f, 0.04205356f, 0.3902504f, -0.01325467f, 0.0f, 0.0f,
    0.0f, 0.0f, 0.0f, 0.0f, -0.31069162f, 0.05291676f, -0.4996603f, 0.3432728f, -0.10711493f, 0.026321908f, 0.0033078333f,
    0.014127212f, -0.1093342f, 0.024946317f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.42177558f, -0.026069045f, -0.44007736f,
    -0.5306675f, 0.13210782f, -0.28684533f, 0.343171f, 0.01519648f, 0.018288106f, -0.091045305f, 0.0f, 0.0f, 0.0f, 0.0f,
    0.0f, 0.0f, -0.27426335f, 0.10526993f, -0.02172925f, 0.11074412f, 0.037714396f, -0.12391279f, -0.04841153f, 0.031855125f,
    0.21243678f, -0.26055866f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.3606093f, 0.17954783f, 0.06505214f, -0.18373345f,
    -0.0849554f, 0.21162759f, 0.3357276f, -0.20054157f, -0.2797233f, -0.4010276f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f,
    -0.38915262f, -0.10937064f, 0.40373445f, 0.048489112f, -0.2836772f, -0.57274806f, -0.5085888f, 0.08221448f, 0.03161668f,
    0.11865154f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, -0.2712534f, 0.22818351f, 0.25031495f, -0.24333054f, -0.003433469f,
    -0.041484077f, -0.37932923f, 0.4220779f, -0.11062836f, -0.2645758f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.27846554f,
    -0.28836742f, -0.5960036f, 0.28629696f, -0.15348706f, 0.23638622f, -0.21110685f, -0.32822046f, -0.1010422f, 0.06366961f,
    0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, -0.23854195f, -0.16261508f, 0.0022128592f, -0.03764069f, 0.31984368f, 0.02674406f,
    0.13413496f, -0.29478592f, -0.11981154f, 0.058615133f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, -0.36435476f, -0.14091024f,
    0.037812155f, 0.108027354f, 0.25568518f, 0.13458708f, 0.119652756f, 0.12597959f, 0.11793741f, -0.0403944f, 0.0f,
    0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.26639986f, -0.010225959f, 0.252358f, 0.068889804f, 0.060026195f, 0.11690336f, -0.39600188f,
    0.0150179295f, -0.35845852f, -0.054636348f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, -0.15206535f, -0.12278986f, 0.42061907f,
    -0.10243271f, -0.18816498f, -0.029907107f, 0.07507835f, -0.251528f, 0.18635169f, 0.07996341f, 0.0f, 0.0f, 0.0f,
    0.0f, 0.0f, 0.0f, 0.2966067f, -0.2801576f, 0.16651095f, -0.031019056f, -0.09309068f, 0.1685889f, -0.09283812f, -0.16886169f,
    -0.17791556f, 0.03693697f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.07320518f, -0.024398489f, 0.396616f, -0.008725715f,
    -0.049299583f, -0.36868393f, -0.36812726f, 0.19741547f, -0.08400941f, -0.053148188f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f,
    0.0f, -0.19426094f, -0.18352263f, 0.24395508f, -0.04338046f, 0.078407936f, -0.33767757f, 0.086513065f, 0.23474903f,
    0.14301497f, -0.08698633f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.17571972f, -0.3359124f, -0.3838847f, 0.17616343f,
    -0.042573508f, 0.28933728f, 0.11064744f, 0.050383363f, -0.053516522f, 0.060916677f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f,
    0.0f, 0.18429095f, 0.16699292f, -0.050501958f, -0.29784876f, 0.21265543f, -0.04895969f, 0.045498904f, -0.07293286f,
    0.17026079f, -0.097841375f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.035303596f, 0.003161145f, -0.15473992f, -0.048508782f,
    0.29825866f, -0.17253718f, -0.029198706f, 0.031384356f, 0.06449639f, -0.05089699f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f,
    0.0f, -0.021583168f, -0.090414636f, 0.231474f, 0.120677486f, -0.31352234f, 0.17434983f, -0.068566814f, -0.06812586f,
    0.013279155f, -0.04239663f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.16518846f, 0.07526419f, 0.17724968f, -0.05284305f,
    -0.39065382f, -0.060947586f, 0.24164058f, -0.58956605f, 0.0234113f, 0.0538918f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f,
    -0.3443777f, 0.18942876f, 0.10099324f, 0.12098376f, -0.15009047f, -0.28195423f, -0.17229319f, 0.25726482f, 0.1315189f,
    -0.0313978f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.2493596f, -0.24217528f, -0.17375913f, -0.18607976f, -0.4666546f,
    0.35026065f, -0.03284731f, -0.19068563f, -0.2252029f, -0.22123343f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, -0.0013498582f,
    0.078204066f, -0.27263507f, 0.06864322f, 0.1088054f, 0.29883575f, -0.044286095f, -0.24741675f, -0.19192614f, 0.22374094f,
    0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, -0.5135f, -0.106735386f, -0.051263236f, 0.083346136f, 0.16556583f, -0.41481292f,
    0.0075834687f, 0.25762025f, 0.09724994f, -0.072703846f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.34305117f, -0.16713014f,
    0.0058386507f, -0.048706908f, 0.14998366f, -0.048381258f, -0.14094597f, -0.12061524f, -0.12977901f, 0.093985945f,
    0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.12584756f, 0.10501414f, 0.11176506f, -0.12325696f, -0.23639189f, -0.055109404f,
    -0.39828983f, -0.114028364f, 0.19787063f, 0.17491354f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.07925233f, -0.31360167f,
    0.064899f, 0.13444181f, -0.09856223f, 0.16445833f, -0.13661906f, 0.19499312f, 0.011429519f, 0.19566624f, 0.0f, 0.0f,
    0.0f, 0.0f, 0.0f, 0.0f, 0.14822721f, 0.1768837f, -0.10405565f, 0.0952325f, -0.2823188f, -0.16113988f, 0.26432535f,
    -0.49638242f, 0.32904282f, -0.14723653f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0063658f, -0.23827565f, 0.17198521f,
    0.38616028f, -0.5023264f, -0.057384618f, -0.49110237f, 0.21744859f, 0.10903818f, 0.09500142f, 0.0f, 0.0f, 0.0f,
    0.0f, 0.0f, 0.0f, -0.07834387f, -0.22955854f, -0.2650387f, 0.13441887f, -0.15635505f, 0.30010527f, 0.11959639f,
    0.026215885f, 0.18432145f, 0.057621285f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, -0.36778304f, 0.13408543f, 0.053883906f,
    -0.12459877f, 0.28608865f, 0.1261825f, -0.27949575f, 0.14852072f, -0.056266688f, 0.049793325f, 0.0f, 0.0f, 0.0f,
    0.0f, 0.0f, 0.0f, 0.08609082f, -0.511411f, -0.006060366f, -0.07070837f, 0.12910648f, -0.13096689f, 0.16349152f,
    0.19810802f, 0.061714515f, 0.12500963f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.1412334f, 0.044763565f, 0.1275223f,
    -0.45526552f, 0.39766103f, -0.25717002f, 0.29869294f, 0.17924467f, 0.016883465f, -0.27025962f, 0.0f, 0.0f, 0.0f,
    0.0f, 0.0f, 0.0f, -0.1610534f, 0.3811884f, 0.33577567f, -0.066422306f, 0.17151003f, -0.1079762f, 0.11145424f, -0.0070877527f,
    -0.2315878f, -0.081203915f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.14065059f, -0.11389727f, 0.10109755f, 0.19419396f,
    -0.23501584f, 0.2388183f, -0.20226084f, -0.25508144f, -0.11508117f, 0.3335723f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f,
    -0.045365747f, 0.55938923f, 0.08633698f, -0.17159349f, -0.054238807f, -0.18243062f, -0.281461f, -0.0066263434f,
    -0.05649869f, 0.30502507f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.07917765f, -0.03368233f, 0.37003052f, 0.23617335f,
    -0.31143805f, -0.1749189f, -0.48315838f, 0.27181575f, -0.10031139f, 0.009999701f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f,
    0.0f, -0.5083225f, 0.33775228f, -0.12568516f, 0.27607232f, 0.027461179f, 0.09596211f, 0.10774988f, 0.017886283f,
    0.013153157f, -0.39495742f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0937808f, 0.120544225f, -0.42255616f, -0.22213209f,
    0.07660577f, -0.03200544f, 0.1521684f, 0.045367457f, -0.08306057f, 0.19097503f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f,
    0.2067541f, 0.12016712f, -0.065213636f, -0.48908275f, 0.029279243f, 0.07896213f, -0.22500989f, 0.41459113f, -0.13581368f,
    0.105612814f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, -0.19508697f, -0.22339804f, 0.09607869f, 0.31821683f, 0.06473009f,
    -0.19435038f, 0.25460172f, 0.12116725f, -0.2426879f, -0.19394802f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, -0.19476244f,
    -0.3275921f, -0.039578613f, 0.18732283f, 0.38811767f, 0.34118944f, 0.17809007f, -0.026135433f, -0.07733622f, -0.39125866f,
    0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, -0.22693422f, 0.052740727f, -0.08961998f, 0.11681022f, -0.09555211f, 0.03447285f,
    -0.4935866f, 0.055617835f, -0.3133984f, 0.37189245f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, -0.19953829f, -0.09136872f,
    -0.010660909f, -0.1948104f, 0.14456473f, -0.07044064f, -0.32098913f, 0.16167925f, 0.12573874f, 0.013580913f, 0.0f,
    0.0f, 0.0f, 0.0f, 0.0f, 0.0f, -0.0031370423f, 0.18603091f, -0.33003053f, -0.3427088f, 0.3542092f, 0.06979531f, 0.079045616f,
    -0.3004407f, -0.013086355f, 0.09443676f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, -0.41452643f, 0.34053397f, -0.034506775f,
    0.08170919f, 0.16318719f, -0.2664141f, -0.052132487f, 0.013759839f, 0.07821332f, 0.11839136f, 0.0f, 0.0f, 0.0f,
    0.0f, 0.0f, 0.0f, 0.31895024f, -0.2855961f, 0.30959505f, 0.1074034f, -0.0413449f, -0.15631372f, -0.051609144f, -0.1270852f,
    -0.13023052f, -0.14760002f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, -0.28509614f, 0.3729189f, 0.42163122f, 0.102568746f,
    -0.16004947f, -0.25339496f, -0.059790477f, -0.49545425f, 0.03705185f, -0.32732373f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f,
    0.0f, -0.15579814f, 0.4802204f, -0.26725826f, 0.014389952f, -0.3075541f, -0.24762073f, -0.1933303f, 0.004408094f,
    -0.0009784783f, 0.102689385f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, -0.27582765f, -0.23462258f, -0.26997533f, 0.0045140157f,
    -0.026735036f, -0.04989044f, 0.06138468f, -0.17875683f, 0.31076136f, -0.12483959f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f,
    0.0f, 0.24339846f, 0.44719487f, 0.06552432f, -0.19220404f, -0.0074205617f, 0.038557295f, -0.30011758f, -0.06400382f,
    -0.34156904f, -0.16830711f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.046078276f, -0.10293677f, 0.08043965f, 0.1313025f,
    -0.3109112f, 0.007491909f, 0.13009535f, -0.0934972f, 0.26658687f, -0.05463073f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f,
    0.49921942f, -0.37691528f, -0.45340812f, -0.5371396f, 0.11194201f, 0.0075544454f, 0.12558556f, -0.21999358f, 0.08730094f,
    0.35640398f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, -0.14967653f, 0.037539653f, -1.0017556f, -0.4507332f, 0.07516681f,
    0.06292046f, -0.043370236f, -0.50819117f, -0.13622646f, 0.35945988f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, -0.16967618f,
    -0.1715647f, -0.057186536f, 0.2076996f, -0.37555626f, -0.1542853f, 0.15088943f, -0.104529366f, 0.36680976f, -0.2919889f,
    0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.11753682f, 0.43185988f, 0.09284104f, -0.40418756f, -0.7510768f, -0.45772675f,
    0.41667125f, -0.7976904f, -0.16819084f, -0.84215003f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, -0.09596541f, -0.096901156f,
    0.014347571f, 0.07591169f, 0.03531322f, 0.08313912f, 0.082169585f, -0.09179001f, -0.06298397f, 0.0029623942f, 0.0f,
    0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.018503625f, -0.049874924f, -0.09718333f, -0.05896806f, -0.10010443f, 0.046427865f,
    -0.103067115f, 0.012499595f, -0.019456474f, -0.086023115f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.08865866f, 0.013007676f,
    -0.098256394f, 0.015244022f, 0.014256228f, -0.06275436f, 0.06454344f, -0.011721376f, 0.009770548f, 0.017810673f,
    0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, -0.051602762f, 0.04608264f, 0.095250174f, -0.07421036f, -0.08657181f, -0.043646716f,
    0.09378038f, 0.042663675f, -0.037350405f, -0.06688356f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f, 0.0f,};
alignas(16) inline constexpr std::array<float, 10> p_8_bias{
    -0.060888167f, 0.0039557633f, 0.024666186f, 0.11251581f, 0.09953586f, -0.08344478f, -0.112542994f, -0.07316484f,
    -0.035017826f, -0.03609621f,};
alignas(16) inline constexpr std::array<float, 8> b_1_running_mean{
    0.015496826f, 0.19474293f, 0.48624992f, 0.015430729f, 0.04814544f, -0.1716727f, -0.1422076f, -0.1892344f,};
alignas(16) inline constexpr std::array<float, 8> b_1_running_var{
    0.020423768f, 0.027663259f, 0.02607285f, 0.054996036f, 0.0347101f, 0.09653069f, 0.025923612f, 0.014014553f,};
}  // namespace digits_cnn_b1_constants

namespace digits_cnn_b1_constants {
[[gnu::section(".rodata.davit.weights.digits_cnn_b1")]] alignas(16) inline constexpr std::array<std::uint32_t, 1152> weights{
    0xbe20fb07u, 0x3db6b306u, 0xbc1e92a7u, 0x3e06dbf9u, 0x3de9e341u, 0x3e43eaf6u, 0xbee1c36eu, 0x3e567116u, 0x3e23abadu,
    0x3d2e5f45u, 0x3e8c17e4u, 0xbe6264bau, 0xbcf4c1ffu, 0x3e88d11bu, 0x3ec35b9du, 0xbe0f8fddu, 0x3b9cd02fu, 0x3e9c04c3u,
    0x3e8f7eedu, 0xbdec683bu, 0x3dd05439u, 0x3c9522bau, 0xbebcccf5u, 0xbda0e3deu, 0x3e416410u, 0xbd89df64u, 0x3eb68e9au,
    0xbe419c54u, 0x3d24a517u, 0x3d9eba8au, 0xbd727a38u, 0xbd83459eu, 0x3e0dc220u, 0x3e04774bu, 0xbe35d33fu, 0x3cec6f11u,
    0xbe34928du, 0xbcb5bcefu, 0x3e3ee72cu, 0xbc11e3efu, 0x3df66f5eu, 0xbd41ce2au, 0x3edc1ed8u, 0xbd28a998u, 0xbe3245e8u,
    0x3db926e3u, 0xbdb3d48cu, 0xbdb3e7efu, 0xbe88f488u, 0xbe865e48u, 0xbb58f660u, 0xbd552d70u, 0x3e5dad0fu, 0x3e9af83bu,
    0xbb38c90bu, 0x3eeef7a2u, 0xbd441fc7u, 0x3e4e5468u, 0xbe4fc9e9u, 0xbda53a69u, 0xbbeb9095u, 0x3e187ac5u, 0x3ee6139cu,
    0x3d8c819eu, 0xbe53eb7fu, 0x3e52b2e9u, 0x3ee51fdau, 0xbd90a747u, 0x3e2b468fu, 0x3e0e5d7eu, 0xbe5f04a7u, 0x3ef74a3bu,
    0xbebaef53u, 0xbc88ebcdu, 0xbe8ec701u, 0xbe466a75u, 0x3eb2a57bu, 0x3da8533bu, 0xbe11190au, 0x3c4de48cu, 0xbd017e5eu,
    0xbe985f3eu, 0xbe5247a2u, 0xbde29261u, 0xbd5a105du, 0x3e3db0b2u, 0x3dc4c323u, 0xbd1934ffu, 0xbca60056u, 0x3da6532fu,
    0x3e3130beu, 0xbd48272du, 0xbe57d0f0u, 0x3cc1f179u, 0x3e70d351u, 0xbdef7a6eu, 0x3cae613au, 0x3d378524u, 0xbe86fa23u,
    0xbdf0258du, 0xbed281acu, 0x3d1844b2u, 0x3ec5e8c3u, 0x3ebd9805u, 0x3e132360u, 0xbbfe8b20u, 0x3e32da37u, 0xbe1dd6d6u,
    0xbd90eb54u, 0x3b7677ddu, 0x3ea45d8fu, 0xbc4d7478u, 0xbd7ec67bu, 0x3e008aa8u, 0x3e8b7fe5u, 0xbc7e6be2u, 0xbd572ef9u,
    0x3e5be2d0u, 0x3e2aea83u, 0x3ddcf8bau, 0xbeaef183u, 0x3ed526cau, 0xbe1ed251u, 0xbe3f9afdu, 0x3e1f0e06u, 0xbd96de6du,
    0x3dd4f3ddu, 0x3c680d75u, 0x3d562663u, 0xbbb2b54cu, 0x3b8a66d5u, 0xbe3668ffu, 0x3e94fb8cu, 0x3db64056u, 0xbe0430ecu,
    0xbe10b076u, 0xbe1c8f69u, 0xbd34ed6fu, 0xbe61735du, 0xbe3371a5u, 0xbe082abbu, 0x3d07c06du, 0x3ea4f6b5u, 0xbd9995b3u,
    0xbae5eec2u, 0xbdbcbc16u, 0xbd8ff571u, 0xbd2212eeu, 0x3e79d266u, 0x3d05612bu, 0xbe9e479eu, 0xbe175f9cu, 0x3e987f46u,
    0xbe487062u, 0x3dc439f9u, 0xbe9c7998u, 0xbcc003d5u, 0xbdeae779u, 0xbbaa0aadu, 0xbdc30371u, 0x3e54c553u, 0xbecbfb57u,
    0x3dcb70a8u, 0x3d4efacfu, 0x3e527887u, 0x3eb7fbadu, 0xbc9d4ff0u, 0x3e0f8b65u, 0x3e466bf1u, 0x3d64fcf7u, 0xbe4fc8b4u,
    0xbdc30dbcu, 0x3dbcff39u, 0xbd8c50f9u, 0x3e645c3du, 0xbd87d19eu, 0x3e4d5eccu, 0xbd6edc83u, 0xbe02c35fu, 0x3e5bd8acu,
    0x3c8490e6u, 0x3ebd92f4u, 0x3cd9f3feu, 0x3e73de61u, 0xbe4aae89u, 0x3deb95e3u, 0xbe3825afu, 0x3dd30aa9u, 0x3ecea232u,
    0x3d81250du, 0x3e0b7858u, 0x3d87e415u, 0x3e8e70ddu, 0xbeb2b62eu, 0x3e8e1748u, 0x3deffb9bu, 0x3e1075b0u, 0x3e98296bu,
    0xbe8b4d41u, 0xbeb99697u, 0xbd208a85u, 0x3d876e44u, 0x3b874957u, 0x3e2b85aeu, 0x3d622f83u, 0xbdf85100u, 0xbec8e4eau,
    0xbde5eedeu, 0x3eaf24cbu, 0xbe830b7bu, 0xbe377f8au, 0x3e26de58u, 0xbec8893au, 0x3e8f1398u, 0x3e4f0980u, 0x3dfd4986u,
    0x3eb34762u, 0x3e64e6d7u, 0xbe75a251u, 0x3e93b1fdu, 0x3db8b3fau, 0x3dd7c00eu, 0x3dadcd94u, 0xbdedb8bfu, 0x3e2017ccu,
    0xbd35e941u, 0xbe6ebb4au, 0x3ea67823u, 0xbe880345u, 0x3d7c3faeu, 0x3eaafe13u, 0x3da16857u, 0xbe6d1a3fu, 0x3ee99ba4u,
    0xbd84ea61u, 0x3e97b0dfu, 0x3ee2fd7fu, 0x3e23f93eu, 0xbdc2f989u, 0xbd974455u, 0x3e24faa1u, 0xbe133dacu, 0x3e934babu,
    0x3d7f001eu, 0x3eaa4dd5u, 0x3cf89d3bu, 0x3e843439u, 0xbe0ced9cu, 0xbd107db5u, 0x3e8bfa11u, 0xbe21dbc4u, 0x3e5600d5u,
    0xbde0254cu, 0xbe069bfau, 0xbe9f5ddcu, 0xbd07a7aau, 0x3ea15300u, 0xbef5c00eu, 0xbdd3c172u, 0x3e80754cu, 0x3d75090bu,
    0x3c204245u, 0x3e7d33eeu, 0xbe458163u, 0x3d8f946au, 0x3ec706ebu, 0x3ce52f91u, 0x3e9c5148u, 0xbe7b7268u, 0xbe47b917u,
    0x3a7e842eu, 0x3af5e6adu, 0x3e971ca9u, 0xbe95ac0eu, 0x3eeb855du, 0x3e847ab0u, 0x3ee33deeu, 0xbd6bde96u, 0xbdf8cc30u,
    0x3dc03d6du, 0xbe1ad032u, 0x3eec1007u, 0x3ec20a7fu, 0x3ef57739u, 0x3d3855a2u, 0xbe9c474du, 0xbe3f758eu, 0xbb863e2fu,
    0xbdaf5d7eu, 0x3ebdd935u, 0xbe8af660u, 0x3d600f23u, 0x3d8511b0u, 0xbe8d9683u, 0x3eb5a08cu, 0xbe4da451u, 0x3e20c8ceu,
    0x3e5d339au, 0x3e88f9a0u, 0xbd3b1d60u, 0x3e096da2u, 0xbe170476u, 0xbc8fe3b1u, 0xbd24cd29u, 0xbe360e49u, 0xbbec5fa9u,
    0x3e69e5f2u, 0xbd74ff28u, 0x3eb5f18du, 0xbe63c25au, 0x3e563652u, 0xbd330b5eu, 0x3f0a6aa6u, 0xbe858921u, 0x3e688f3cu,
    0x3c80d410u, 0xbed4d3e7u, 0x3cdeec8cu, 0xbe835d74u, 0xbdcdff5du, 0x3e12f3c7u, 0x3e722b43u, 0x3d34ab99u, 0xbeaad9fdu,
    0x3ddfa606u, 0xbea9bd9fu, 0x3de1b398u, 0xbe29951du, 0x3ee71466u, 0xbe15ae87u, 0x3ed1a1feu, 0x3e451a11u, 0xbeea2b8bu,
    0x3ca9ce08u, 0xbce1dc6du, 0xbd52dc56u, 0xbd5bffcbu, 0x3e2a5622u, 0xbca5f2a4u, 0x3cc1071du, 0x3dbcabc1u, 0xbdc9b88fu,
    0xbe374e93u, 0x3d1b0794u, 0xbcefb025u, 0xbd012aecu, 0xbe0805aeu, 0xbe0af0deu, 0x3e3e187du, 0xbd5ebd72u, 0xbe040a12u,
    0xbd8bc691u, 0xbdfbf2e3u, 0xbe9eca82u, 0x3eaf2263u, 0x3dfceaf8u, 0x3d990e23u, 0x3c94604au, 0xbd85a4bdu, 0x3e9442a0u,
    0x3ed369e4u, 0xbecf9770u, 0xbe93f67bu, 0xbe88e74eu, 0x3e652769u, 0x3c3c7a10u, 0x3e57511au, 0x3d816d0du, 0xbdeecae0u,
    0x3e36c3feu, 0xbee0be1fu, 0x3e0a8a28u, 0xbdeab07du, 0xbe53b2a0u, 0x3e37fd27u, 0xbdd7ef72u, 0x3e6c7060u, 0xbea88da2u,
    0xbe15e42eu, 0x3ce565beu, 0x3e323923u, 0x3e8384fau, 0xbe84cde2u, 0xbe0fe34fu, 0xbe0a3ce5u, 0xbdbb9af7u, 0x3efbb09eu,
    0x3e43045au, 0x3e5b9fcau, 0x3e7d5b9eu, 0xbed25c52u, 0x3e01652bu, 0xbd88298au, 0x3e98e587u, 0xbd15405du, 0xbe2943c5u,
    0x3e8e6417u, 0x3c0c2574u, 0xbe963815u, 0xbdb65955u, 0x3e120559u, 0xbcc88631u, 0x3c470146u, 0x3ebbb608u, 0xbea3fbdeu,
    0x3eb7e941u, 0xbc35a731u, 0x3d313847u, 0x3c511c04u, 0x3ea77e20u, 0xbe1a2c02u, 0x3dc3dc4au, 0x3eaa1a85u, 0x3e616e86u,
    0x3ed3ae95u, 0xbe0024c7u, 0xbcc35e8fu, 0x3e4819aeu, 0xbf07c613u, 0x3e9a6ca6u, 0xbe9abf50u, 0x3e284c25u, 0x3e86455du,
    0xbe75e6b9u, 0xbe18c62eu, 0x3e2d2c27u, 0x3e09f617u, 0x3e17f08bu, 0x3eb1340cu, 0x3da48a53u, 0xbec8269cu, 0x3ba4c0a6u,
    0x3ddc6792u, 0x3e23dfc9u, 0xbe60e5a6u, 0x3dcc414du, 0xbdfa37e1u, 0x3e205dc8u, 0xbe80ccf2u, 0xbe7f9fddu, 0x3e03abf1u,
    0x3e39c30fu, 0x3ec2b906u, 0x3e420699u, 0x3e041ff2u, 0x3ce221aeu, 0xbeca8b78u, 0x3d7c1311u, 0x3e0efe6cu, 0x3e0946ffu,
    0xbe871ea2u, 0x3e939db1u, 0xbc58cb2fu, 0x3e2db3e4u, 0xbe7df17du, 0x3df73020u, 0xbcf9e86eu, 0xbcef7711u, 0x3cf65843u,
    0x3e01d376u, 0x3e8f4301u, 0x3e70596eu, 0x3e6f68b6u, 0x3d97dff5u, 0xbdf8ed8eu, 0x3eb127beu, 0x3e953e21u, 0x3eb63955u,
    0xbde15e10u, 0x3d83cfd9u, 0xbe5c6dd2u, 0xbd0f6748u, 0xbeb3d7dfu, 0x3dac3386u, 0xbe16e242u, 0x3cfe00deu, 0x3f01ef4fu,
    0x3d8ed8b8u, 0x3e8d3020u, 0xbdf9ba6eu, 0x3e245b5eu, 0x3e2b0c9eu, 0xbda93126u, 0xba8d82feu, 0xbd61d9d0u, 0x3cc0ebe1u,
    0xbcb4cd1fu, 0xbe1b36bdu, 0x3d7da75au, 0x3e232fe0u, 0x3ed043ccu, 0x3ebbdf23u, 0xbd99a9e4u, 0x3e25bbebu, 0xbf4017b5u,
    0xbd2b23d8u, 0x3ec69f60u, 0xbe2b3c27u, 0xbe220020u, 0x3db3e579u, 0xbd86c720u, 0x3e8a2971u, 0x3d346e4fu, 0x3e4fdd44u,
    0x3bf494b9u, 0x3dfe236cu, 0x3e2c4447u, 0x3e9d0a5eu, 0xbd8d973cu, 0x3e332189u, 0xbcbb71eau, 0x3d0c6ec7u, 0x3e523c72u,
    0x3e1977b8u, 0x3dc3a47eu, 0x3e67287cu, 0xbd50edebu, 0x3e37f32fu, 0x3d1c7004u, 0x3e02debdu, 0xbe3c2418u, 0x3ecb52f8u,
    0x3eae00a4u, 0x3eba9a4eu, 0x3ea1d247u, 0xbe3c4191u, 0x3e96fcf2u, 0x3c6b6bacu, 0x3e96e92au, 0xbc1faa78u, 0x3d978f7du,
    0xbe8eff70u, 0x3dbded04u, 0xbe62f737u, 0x3eca0c33u, 0xbe71f876u, 0x3df906ecu, 0x3e7f81adu, 0xbd93122du, 0x3e03f0b9u,
    0xbdacd8bbu, 0x3e043fe9u, 0xbf02a1c1u, 0x3d8242d6u, 0x3eaede5eu, 0xbe96434fu, 0xbd4b821eu, 0xbea7c20bu, 0xbdec77f4u,
    0x3d258caau, 0x3e8e102eu, 0x3e80616au, 0x3e686d6du, 0x3dda630cu, 0x3e042797u, 0x3d1a2ddeu, 0xbed4e3ffu, 0x3d92acddu,
    0xbe201875u, 0xbd0c9317u, 0x3e824018u, 0xbdd95524u, 0x3e854ef0u, 0xbe9c2ba6u, 0x3e4b754bu, 0xbd0fdba6u, 0x3e0bd49cu,
    0x3ddddee3u, 0xbd506deeu, 0x3f093638u, 0x3f077e9bu, 0x3e28cc12u, 0x3e0632f9u, 0xbe557263u, 0x3ec43050u, 0xbda3e9d1u,
    0x3e3e880bu, 0xbe4257dfu, 0x3d98a37fu, 0x3e9a0324u, 0x3cc3d458u, 0xbe14d3eeu, 0x3e9f98c8u, 0xbe2482d3u, 0x3edbdf0cu,
    0xbe44af0fu, 0xbe3faeccu, 0x3ea55b26u, 0xbcbee74du, 0x3e285ddcu, 0xbd95b676u, 0x3d3e09a0u, 0x3eb5e037u, 0x3e65ad31u,
    0xbdda44b6u, 0x3ea3676cu, 0xbe35826cu, 0xbdd70597u, 0x3e96147du, 0xbe0a142bu, 0x3f176a6du, 0xbc8c343cu, 0x3d47c948u,
    0x3e9215f2u, 0xbd155960u, 0xbd7a6526u, 0x3caedaacu, 0xbd90db7bu, 0x3daa4127u, 0xbdd4bbf8u, 0x3e7c6a4eu, 0xbe41ad09u,
    0x3ee2ef63u, 0xbe47d3fbu, 0xbeaaf6f0u, 0xbca34fbeu, 0x3e00a35bu, 0x3df7a448u, 0xbe60eebbu, 0x3e557648u, 0x3d624bebu,
    0xbf1924ccu, 0x3e341382u, 0x3cf99790u, 0x3e418ed2u, 0x3e1e2955u, 0xbc3e91e0u, 0x3d68b7e5u, 0x3ea88febu, 0xbde4c4adu,
    0x3e337a9du, 0xbe8b9bc4u, 0x3e6d4f50u, 0xbe01cf3eu, 0x3e92664eu, 0x3e9d70abu, 0xbe7fac48u, 0x3d6a98bcu, 0xbe83eac8u,
    0xbd5ab99bu, 0x3e6f429bu, 0xbd5a986du, 0x3e83a376u, 0x3e024fe8u, 0x3dc40e8au, 0xbe180749u, 0x3e3e22d2u, 0xbd4d8170u,
    0x3f02fa84u, 0xbe050f90u, 0x3dfd8cedu, 0x3e8ae70cu, 0xbe1e24afu, 0xbb5ce0dfu, 0xbe24d7c8u, 0x3c82816du, 0x3d5dd3c1u,
    0x3dca24ddu, 0x3e2d7c9fu, 0x3e5b7c4au, 0x3e461810u, 0x3caf0b12u, 0xbde3a500u, 0x3ddbb397u, 0x3e32b106u, 0x3d6392f3u,
    0x3dd52be7u, 0x3e16cdccu, 0xbe16d555u, 0xbe4eb6c3u, 0x3e72c7c1u, 0x3d9b3d42u, 0xbe6885c2u, 0xbe4988ddu, 0xbe8f3a24u,
    0x3e046c48u, 0x3e832c5du, 0xbe636765u, 0xbdf10c81u, 0x3d8925bcu, 0x3e199b6du, 0xbe55834bu, 0xbc9858cdu, 0x3e1c3f12u,
    0xbe3ff2aau, 0x3e17ddf5u, 0xbde7084cu, 0x3da7b775u, 0xbe8e8b0du, 0x3cac6129u, 0x3f080c2au, 0x3dacf3eeu, 0x3ec33d65u,
    0x3e174214u, 0xbe73726du, 0x3e4af880u, 0x3e2ad89fu, 0xbe9d7bd4u, 0xbe447842u, 0xbdbcff14u, 0x3d77f9c9u, 0x3be5aefcu,
    0xbe55cc36u, 0xbe10a12eu, 0xbea033bdu, 0xbe510681u, 0xbe33e209u, 0x3d956dccu, 0x3e105234u, 0x3df1c5a9u, 0x3d73d019u,
    0x3d863155u, 0x3e59caf2u, 0x3e06d0c4u, 0x3d7f35e7u, 0xbdd41e7du, 0x3b3f7c24u, 0xbe1e5d99u, 0x3c1e71f9u, 0xbdd092c1u,
    0xbdd9b677u, 0x3e991776u, 0xbd35b223u, 0xbe3af4a4u, 0xbdb76560u, 0xbbb52555u, 0x3e54e1c7u, 0xbd2ede3cu, 0xbdd4b861u,
    0x3eb8bfd1u, 0x3e9093fcu, 0xbe8d947du, 0x3ea42972u, 0x3c2b8137u, 0x3f1395ccu, 0xbd892248u, 0xbe149fecu, 0x3d6affd8u,
    0x3e1cabceu, 0xbe007480u, 0xbdef8141u, 0xbe107c35u, 0x3dbd7fe9u, 0xbe8a4956u, 0xbdf36921u, 0x3ea363f2u, 0x3ea12de7u,
    0xbe769f28u, 0xbb3fdbc9u, 0xbd998b08u, 0xbe9ed2d6u, 0xbdd59631u, 0x3ce178cbu, 0xbc3dd737u, 0x3c0b0442u, 0xbc7b6488u,
    0xbd1dead4u, 0x3dd1f41au, 0x3d9c76bbu, 0xbda8e0a1u, 0x3db99b89u, 0xbc82d3e5u, 0x3e368becu, 0xbce0c697u, 0x3da164d8u,
    0x3ea8c950u, 0xbc7d4df9u, 0x3da8e635u, 0xbe860644u, 0x3e67bdf9u, 0xbe7cb09fu, 0xbdd98ecbu, 0xbd02ff99u, 0x3d5f5e80u,
    0xbe515195u, 0x3e29ae72u, 0xbe9f83e3u, 0x3e9d98b0u, 0x3e5f8c75u, 0xbe4f91f9u, 0x3eb1ff0eu, 0xbdbc76a2u, 0x3eb8697cu,
    0x3c0e2059u, 0xbea97f7bu, 0x3e00b64au, 0x3ee0c1eeu, 0xbd330665u, 0x3e5cc91au, 0x3d9cc761u, 0xbef8dc67u, 0x3dbd4feeu,
    0xbe845adau, 0xbd978c0au, 0xbe6f822bu, 0xbefb4bdcu, 0x3e78bd09u, 0xbda49412u, 0x3da1252fu, 0xbddcf69au, 0x3c952ecau,
    0xbdf48c5au, 0xbea175cfu, 0x3cba9aa9u, 0xbd1d5284u, 0x3d87407eu, 0x3da5934fu, 0xbdb2939du, 0x3d9298a2u, 0x3d26dc45u,
    0xbc54ad62u, 0xbe6b3a94u, 0x3e70cec2u, 0x3e83354du, 0x3d2d8c0fu, 0xbda63415u, 0xbddc0d27u, 0xbd9ab1e7u, 0x3d84dc99u,
    0x3e0d2e65u, 0x3e8d6dfcu, 0x3e4c354cu, 0xbe893626u, 0x3dbf188bu, 0xbe1ec6c3u, 0x3e082f06u, 0x3e8d3577u, 0xba92b00au,
    0x3eaab131u, 0xbdbc3720u, 0x3debc4aau, 0xbdab7c28u, 0xbe0b6aeau, 0x3cf5d4d5u, 0x3ed7d0c3u, 0xbcd78f0bu, 0x3e1ba71du,
    0x3e82ebeau, 0xbec95a01u, 0x3c7e70a6u, 0xbe669f9bu, 0x3dfc511du, 0xbe1f4c38u, 0xbccb960cu, 0x3e888faau, 0x3ce8bff9u,
    0x3e306daau, 0x3c827c34u, 0x3db7ed14u, 0x3d1fc245u, 0xbea98cebu, 0xbc31df8cu, 0xbe06de34u, 0xbd953c7eu, 0x3ea8ba82u,
    0xbe73037bu, 0x3d1dd559u, 0x3e3fc36cu, 0xbd084c8eu, 0xbd818908u, 0x3d43fec5u, 0x3e943543u, 0xbe225653u, 0xbdde53b4u,
    0x3e77faf4u, 0xbe34da6au, 0x3e25e89du, 0x3dad0b89u, 0x3e8ba13cu, 0x3eac6fc3u, 0xbe6a588eu, 0xbc56e937u, 0x3bd3ff36u,
    0x3db9daffu, 0xbc3ad969u, 0x3df67d87u, 0xbe3fd140u, 0x3e02d099u, 0xbe8bbe01u, 0xbe105d18u, 0x3e3085a8u, 0x3e7df6eeu,
    0x3a6b98dcu, 0x3ea6b046u, 0xbc25171bu, 0x3e2eef24u, 0x3e73cfd6u, 0x3e3ae6d8u, 0xbe15b203u, 0x3cfc186cu, 0xbe0b8a21u,
    0x3d888287u, 0x3e471960u, 0x3e3d29f7u, 0x3e4c90d5u, 0xbe132d48u, 0x3e033138u, 0x3c874a28u, 0x3e1fe4e2u, 0x3da762a3u,
    0xbdb7c661u, 0x3cbd9fa2u, 0x3e9636e7u, 0x3e1e1d2cu, 0xbe8e5e0eu, 0xbc24d14du, 0xbd946b47u, 0x3e40fe92u, 0x3e163af5u,
    0xbd350447u, 0xbd0b4e5bu, 0x3cc1f9cfu, 0x3ebac8ffu, 0x3c906858u, 0xbe803e78u, 0xbdc166d6u, 0xbdcc35c3u, 0xbe3dd7d3u,
    0x3ef8edf1u, 0xbe2a0207u, 0x3e139e2eu, 0xbdbbabadu, 0x3e9c0a40u, 0x3e873775u, 0xbee3aef8u, 0xbdded001u, 0xbf35b5bau,
    0x3cbe1473u, 0x3ea7445bu, 0x3e4ad2a0u, 0xbeb6ce36u, 0x3dab01e5u, 0xbe36e006u, 0x3d30b426u, 0x3f06aa2bu, 0xbdf38541u,
    0x3eb4c676u, 0x3e0a5870u, 0x3f034cf4u, 0x3ec8b323u, 0xba9f1784u, 0x3e215f5bu, 0xbd2dd1e1u, 0xbddb87d0u, 0x3eb4bc55u,
    0x3e04572au, 0x3ea19145u, 0x3c6aefa1u, 0xbe082cb9u, 0x3dffb591u, 0x3e97b637u, 0x3cd6b7c7u, 0x3e6709f4u, 0x3dbcdfeeu,
    0x3e0a6fd3u, 0x3e878c64u, 0xbdbc9bd1u, 0xbe676a32u, 0x3e3d43ddu, 0xbad050e3u, 0x3eacf2d7u, 0x3e5a4c5du, 0xbedb8329u,
    0xbe908f60u, 0xbe88037du, 0xbefc1866u, 0x3e9baa5au, 0xbe8289d4u, 0x3e6a1367u, 0xbe3463e3u, 0x3e4aef35u, 0xbc5948d4u,
    0xbeab04fbu, 0xbe2629a1u, 0xbdeff7b7u, 0x3da0620cu, 0x3e3a996eu, 0xbe053ee4u, 0x3cbd9febu, 0xbe02c392u, 0x3e77bc02u,
    0xbe60883bu, 0x3e129b99u, 0x3c0c96c4u, 0x3e5da087u, 0xbd12933bu, 0x3ec4a39fu, 0x3e206ee4u, 0xbcde9819u, 0x3d8636dfu,
    0xbec9975bu, 0xbca05feau, 0x3dcf7aeau, 0x3dd41a40u, 0x3eb0e527u, 0xbe2fc558u, 0x3e3142f5u, 0xbe3d821cu, 0xbe09b906u,
    0xbd961ab5u, 0x3ed9bc1fu, 0xbe9ccad2u, 0x3e8d06e4u, 0x3e6cd40bu, 0xbe1fadcfu, 0x3e36159au, 0x3e9642d5u, 0xbd580eecu,
    0xbe25b66cu, 0x3dd09a60u, 0x3e57262cu, 0x3bbe4cd2u, 0x3eb1d023u, 0x3d1f1165u, 0x3ef79c61u, 0x3eabd86fu, 0x3edd8f90u,
    0xbe84bc9cu, 0xbf037317u, 0x3db6881cu, 0xbe4563ceu, 0x3e143e2eu, 0xbdc31d55u, 0xbb2e8cedu, 0xbe9e94a6u, 0x3e151208u,
    0xbd92de6cu, 0xbee01506u, 0x3e946066u, 0xbe227ffeu, 0x3e960e52u, 0xbdced06du, 0x3ee65bcbu, 0xbdb13439u, 0x3da7bb18u,
    0x3c6b20a5u, 0xbe43228bu, 0x3c72a578u, 0x3c3892ccu, 0xbd478fd5u, 0xbe27938du, 0x3c09a774u, 0x3e076306u, 0xbef1f755u,
    0x3eb40966u, 0xbdff665du, 0xbe43aa6cu, 0x3e01b87au, 0x3d8614e6u, 0x3df25836u, 0x3cc56beeu, 0xbe556c97u, 0xbe91a24bu,
    0xbeafe089u, 0x3eaa1c00u, 0x3cec59c6u, 0xbc42980bu, 0x3e228571u, 0x3dae473bu, 0xbcab41efu, 0xbe17df51u, 0x3bb9c1dfu,
    0x3f0c9becu, 0x3ead6291u, 0x3e875a12u, 0xbe92d3aeu, 0xbeb8b58au, 0x3d448460u, 0x3d0824bcu, 0x3e74fcefu, 0x3e1422c2u,
    0xbd8fe5f8u, 0xbe62096au, 0x3c5dca01u, 0xbe07bbddu, 0xbda4beddu, 0xbd961e35u, 0x3c8330c4u, 0x3ee64340u, 0x3e406356u,
    0xbd83fc54u, 0xbe87ebb7u, 0xbef82ca7u, 0xbe83f97bu, 0x3e10f458u, 0xbd46e1c6u, 0xbd7f4657u, 0x3d07fd64u, 0xbe8b3fb3u,
    0x3d22401du, 0x3e2145a4u, 0xbd27d0bbu, 0x3ea9f36bu, 0x3d64ec61u, 0xbe6a4464u, 0x3ea151f3u, 0xbe1558fau, 0xbeb445b3u,
    0xbeb660d5u, 0xbe41aa33u, 0x3e19b3beu, 0xbd75a955u, 0x3ef49adcu, 0x3d13831fu, 0xbdf76cc5u, 0x3ea2ec0eu, 0x3d7a05c2u,
    0x3eced620u, 0xbe822240u, 0x3eafddbcu, 0xbe23d2a0u, 0x3d964d80u, 0x3e886361u, 0xbe88d68au, 0x3e5e6547u, 0x3d3fdeccu,
    0x3e011393u, 0x3eba80f2u, 0x3ee141a6u, 0xbd746f43u, 0xbe760a4du, 0x3eb2c346u, 0xbea136a5u, 0x3eb5824bu, 0xbe0c4e9cu,
    0x3e574734u, 0x3df8a162u, 0xbdc5804cu, 0x3e184dd1u, 0x3dddd613u, 0x3dbe1bbfu, 0x3df15c49u, 0x3e8749a7u, 0x3dde283cu,
    0x3d88c9e4u, 0x3d899a50u, 0xbe9e3804u, 0x3d7ed694u, 0xbed470abu, 0x3ce8e10bu, 0xbe5b86f4u, 0x3df853b7u, 0x3dd16c39u,
    0xbd1926aeu, 0x3d82281du, 0xbd5eb91fu, 0xbde076d4u, 0x3de00f48u, 0x3e7a36acu, 0xbd800668u, 0x3eeb168bu, 0x3daef663u,};
}  // namespace digits_cnn_b1_constants

/// forward: input float32 [1, 1, 8, 8] -> addmm float32 [1, 10]
struct digits_cnn_b1 {
  static constexpr std::string_view name = "digits_cnn_b1";
  static constexpr std::array<davit::StaticInput, 12> inputs{
      davit::StaticInput{.role = davit::StaticRole::constant, .layout = davit::WeightLayout::output_inner, .data = davit::ConstantData::in_array(digits_cnn_b1_constants::p_0_weight)},  // 0: p_0_weight
      davit::StaticInput{.role = davit::StaticRole::constant, .data = davit::ConstantData::in_array(digits_cnn_b1_constants::p_0_bias)},  // 1: p_0_bias
      davit::StaticInput{.role = davit::StaticRole::constant, .data = davit::ConstantData::in_array(digits_cnn_b1_constants::p_1_weight)},  // 2: p_1_weight
      davit::StaticInput{.role = davit::StaticRole::constant, .data = davit::ConstantData::in_array(digits_cnn_b1_constants::p_1_bias)},  // 3: p_1_bias
      davit::StaticInput{.role = davit::StaticRole::constant, .layout = davit::WeightLayout::output_inner, .data = davit::ConstantData::in_blob(davit::ScalarType::float32, 1152, 0)},  // 4: p_4_weight
      davit::StaticInput{.role = davit::StaticRole::constant, .data = davit::ConstantData::in_array(digits_cnn_b1_constants::p_4_bias)},  // 5: p_4_bias
      davit::StaticInput{.role = davit::StaticRole::constant, .layout = davit::WeightLayout::output_inner, .data = davit::ConstantData::in_array(digits_cnn_b1_constants::p_8_weight)},  // 6: p_8_weight
      davit::StaticInput{.role = davit::StaticRole::constant, .data = davit::ConstantData::in_array(digits_cnn_b1_constants::p_8_bias)},  // 7: p_8_bias
      davit::StaticInput{.role = davit::StaticRole::constant, .data = davit::ConstantData::in_array(digits_cnn_b1_constants::b_1_running_mean)},  // 8: b_1_running_mean
      davit::StaticInput{.role = davit::StaticRole::constant, .data = davit::ConstantData::in_array(digits_cnn_b1_constants::b_1_running_var)},  // 9: b_1_running_var
      davit::StaticInput{.role = davit::StaticRole::unused},  // 10: b_1_num_batches_tracked
      davit::StaticInput{.role = davit::StaticRole::user},  // 11: input
  };
  static constexpr std::array<davit::StaticOutput, 1> outputs{
      davit::StaticOutput{},  // 0: addmm
  };
  static constexpr davit::StaticGraphModule<659, 40, 0, 25, 94, 10, 1, 0> tables{
      .text = davit::static_text(
          "input" "weight" "bias" "stride" "padding" "dilation" "transposed" "output_padding" "groups"
          "aten.convolution.default" "running_mean" "running_var" "momentum" "eps"
          "aten._native_batch_norm_legit_no_training.default" "self" "aten.relu.default" "kernel_size"
          "aten.max_pool2d_with_indices.default" "aten.avg_pool2d.default" "size" "aten.view.default" "dims"
          "aten.permute.default" "mat1" "mat2" "aten.addmm.default" "p_0_weight" "p_0_bias" "p_1_weight" "p_1_bias"
          "p_4_weight" "p_4_bias" "p_8_weight" "p_8_bias" "b_1_running_mean" "b_1_running_var" "b_1_num_batches_tracked"
          "convolution" "getitem" "_native_batch_norm_legit_no_training_unused_1"
          "_native_batch_norm_legit_no_training_unused_2" "relu" "getitem_3" "max_pool2d_with_indices_unused_1"
          "convolution_1" "relu_1" "avg_pool2d" "view" "permute" "addmm"),
      .dims = {{{8}, {1}, {3}, {3}, {8}, {16}, {8}, {3}, {3}, {16}, {10}, {64}, {10}, {1}, {1}, {8}, {8}, {1}, {8}, {8}, {8}, {0}, {1}, {8},
                {4}, {4}, {1}, {16}, {4}, {4}, {1}, {16}, {2}, {2}, {1}, {64}, {64}, {10}, {1}, {10}}},
      .exprs = {},
      .values = {{
          {.name = {335, 10}, .graph = 0, .sizes = {0, 4}, .dtype = davit::ScalarType::float32},  // 0: p_0_weight float32 [8, 1, 3, 3]
          {.name = {345, 8}, .graph = 0, .sizes = {4, 1}, .dtype = davit::ScalarType::float32},  // 1: p_0_bias float32 [8]
          {.name = {353, 10}, .graph = 0, .sizes = {4, 1}, .dtype = davit::ScalarType::float32},  // 2: p_1_weight float32 [8]
          {.name = {363, 8}, .graph = 0, .sizes = {4, 1}, .dtype = davit::ScalarType::float32},  // 3: p_1_bias float32 [8]
          {.name = {371, 10}, .graph = 0, .sizes = {5, 4}, .dtype = davit::ScalarType::float32},  // 4: p_4_weight float32 [16, 8, 3, 3]
          {.name = {381, 8}, .graph = 0, .sizes = {9, 1}, .dtype = davit::ScalarType::float32},  // 5: p_4_bias float32 [16]
          {.name = {389, 10}, .graph = 0, .sizes = {10, 2}, .dtype = davit::ScalarType::float32},  // 6: p_8_weight float32 [10, 64]
          {.name = {399, 8}, .graph = 0, .sizes = {12, 1}, .dtype = davit::ScalarType::float32},  // 7: p_8_bias float32 [10]
          {.name = {407, 16}, .graph = 0, .sizes = {4, 1}, .dtype = davit::ScalarType::float32},  // 8: b_1_running_mean float32 [8]
          {.name = {423, 15}, .graph = 0, .sizes = {4, 1}, .dtype = davit::ScalarType::float32},  // 9: b_1_running_var float32 [8]
          {.name = {438, 23}, .graph = 0, .sizes = {13, 0}, .dtype = davit::ScalarType::int64},  // 10: b_1_num_batches_tracked int64 []
          {.name = {0, 5}, .graph = 0, .sizes = {13, 4}, .dtype = davit::ScalarType::float32},  // 11: input float32 [1, 1, 8, 8]
          {.name = {461, 11}, .graph = 0, .producer = 0, .sizes = {17, 4}, .dtype = davit::ScalarType::float32},  // 12: convolution float32 [1, 8, 8, 8]
          {.name = {472, 7}, .graph = 0, .producer = 1, .sizes = {17, 4}, .dtype = davit::ScalarType::float32},  // 13: getitem float32 [1, 8, 8, 8]
          {.name = {479, 45}, .graph = 0, .producer = 1, .sizes = {21, 1}, .dtype = davit::ScalarType::float32},  // 14: _native_batch_norm_legit_no_training_unused_1 float32 [0]
          {.name = {524, 45}, .graph = 0, .producer = 1, .sizes = {21, 1}, .dtype = davit::ScalarType::float32},  // 15: _native_batch_norm_legit_no_training_unused_2 float32 [0]
          {.name = {569, 4}, .graph = 0, .producer = 2, .sizes = {17, 4}, .dtype = davit::ScalarType::float32},  // 16: relu float32 [1, 8, 8, 8]
          {.name = {573, 9}, .graph = 0, .producer = 3, .sizes = {22, 4}, .dtype = davit::ScalarType::float32},  // 17: getitem_3 float32 [1, 8, 4, 4]
          {.name = {582, 32}, .graph = 0, .producer = 3, .sizes = {22, 4}, .dtype = davit::ScalarType::int64},  // 18: max_pool2d_with_indices_unused_1 int64 [1, 8, 4, 4]
          {.name = {614, 13}, .graph = 0, .producer = 4, .sizes = {26, 4}, .dtype = davit::ScalarType::float32},  // 19: convolution_1 float32 [1, 16, 4, 4]
          {.name = {627, 6}, .graph = 0, .producer = 5, .sizes = {26, 4}, .dtype = davit::ScalarType::float32},  // 20: relu_1 float32 [1, 16, 4, 4]
          {.name = {633, 10}, .graph = 0, .producer = 6, .sizes = {30, 4}, .dtype = davit::ScalarType::float32},  // 21: avg_pool2d float32 [1, 16, 2, 2]
          {.name = {643, 4}, .graph = 0, .producer = 7, .sizes = {34, 2}, .dtype = davit::ScalarType::float32},  // 22: view float32 [1, 64]
          {.name = {647, 7}, .graph = 0, .producer = 8, .sizes = {36, 2}, .dtype = davit::ScalarType::float32},  // 23: permute float32 [64, 10]
          {.name = {654, 5}, .graph = 0, .producer = 9, .sizes = {38, 2}, .dtype = davit::ScalarType::float32},  // 24: addmm float32 [1, 10]
      }},
      .arguments = {{
          {.payload = 0, .kind = davit::ArgumentKind::value},  // p_0_weight
          {.payload = 1, .kind = davit::ArgumentKind::value},  // p_0_bias
          {.payload = 2, .kind = davit::ArgumentKind::value},  // p_1_weight
          {.payload = 3, .kind = davit::ArgumentKind::value},  // p_1_bias
          {.payload = 4, .kind = davit::ArgumentKind::value},  // p_4_weight
          {.payload = 5, .kind = davit::ArgumentKind::value},  // p_4_bias
          {.payload = 6, .kind = davit::ArgumentKind::value},  // p_8_weight
          {.payload = 7, .kind = davit::ArgumentKind::value},  // p_8_bias
          {.payload = 8, .kind = davit::ArgumentKind::value},  // b_1_running_mean
          {.payload = 9, .kind = davit::ArgumentKind::value},  // b_1_running_var
          {.payload = 10, .kind = davit::ArgumentKind::value},  // b_1_num_batches_tracked
          {.payload = 11, .kind = davit::ArgumentKind::value},  // input
          {.payload = 24, .kind = davit::ArgumentKind::value},  // addmm
          // 0: aten.convolution.default
          {.payload = 1, .kind = davit::ArgumentKind::int_},
          {.payload = 1, .kind = davit::ArgumentKind::int_},
          {.payload = 1, .kind = davit::ArgumentKind::int_},
          {.payload = 1, .kind = davit::ArgumentKind::int_},
          {.payload = 1, .kind = davit::ArgumentKind::int_},
          {.payload = 1, .kind = davit::ArgumentKind::int_},
          {.payload = 0, .kind = davit::ArgumentKind::int_},
          {.payload = 0, .kind = davit::ArgumentKind::int_},
          {.name = {0, 5}, .payload = 11, .kind = davit::ArgumentKind::value},  // input = input
          {.name = {5, 6}, .payload = 0, .kind = davit::ArgumentKind::value},  // weight = p_0_weight
          {.name = {11, 4}, .payload = 1, .kind = davit::ArgumentKind::value},  // bias = p_0_bias
          {.name = {15, 6}, .items = {13, 2}, .kind = davit::ArgumentKind::list},  // stride
          {.name = {21, 7}, .items = {15, 2}, .kind = davit::ArgumentKind::list},  // padding
          {.name = {28, 8}, .items = {17, 2}, .kind = davit::ArgumentKind::list},  // dilation
          {.name = {36, 10}, .payload = 0, .kind = davit::ArgumentKind::bool_},  // transposed
          {.name = {46, 14}, .items = {19, 2}, .kind = davit::ArgumentKind::list},  // output_padding
          {.name = {60, 6}, .payload = 1, .kind = davit::ArgumentKind::int_},  // groups
          {.payload = 12, .kind = davit::ArgumentKind::value},  // convolution
          // 1: aten._native_batch_norm_legit_no_training.default
          {.name = {0, 5}, .payload = 12, .kind = davit::ArgumentKind::value},  // input = convolution
          {.name = {5, 6}, .payload = 2, .kind = davit::ArgumentKind::value},  // weight = p_1_weight
          {.name = {11, 4}, .payload = 3, .kind = davit::ArgumentKind::value},  // bias = p_1_bias
          {.name = {90, 12}, .payload = 8, .kind = davit::ArgumentKind::value},  // running_mean = b_1_running_mean
          {.name = {102, 11}, .payload = 9, .kind = davit::ArgumentKind::value},  // running_var = b_1_running_var
          {.name = {113, 8}, .payload = std::bit_cast<std::int64_t>(0.1), .kind = davit::ArgumentKind::float_},  // momentum
          {.name = {121, 3}, .payload = std::bit_cast<std::int64_t>(1e-05), .kind = davit::ArgumentKind::float_},  // eps
          {.payload = 13, .kind = davit::ArgumentKind::value},  // getitem
          {.payload = 14, .kind = davit::ArgumentKind::value},  // _native_batch_norm_legit_no_training_unused_1
          {.payload = 15, .kind = davit::ArgumentKind::value},  // _native_batch_norm_legit_no_training_unused_2
          // 2: aten.relu.default
          {.name = {173, 4}, .payload = 13, .kind = davit::ArgumentKind::value},  // self = getitem
          {.payload = 16, .kind = davit::ArgumentKind::value},  // relu
          // 3: aten.max_pool2d_with_indices.default
          {.payload = 2, .kind = davit::ArgumentKind::int_},
          {.payload = 2, .kind = davit::ArgumentKind::int_},
          {.payload = 2, .kind = davit::ArgumentKind::int_},
          {.payload = 2, .kind = davit::ArgumentKind::int_},
          {.name = {173, 4}, .payload = 16, .kind = davit::ArgumentKind::value},  // self = relu
          {.name = {194, 11}, .items = {43, 2}, .kind = davit::ArgumentKind::list},  // kernel_size
          {.name = {15, 6}, .items = {45, 2}, .kind = davit::ArgumentKind::list},  // stride
          {.payload = 17, .kind = davit::ArgumentKind::value},  // getitem_3
          {.payload = 18, .kind = davit::ArgumentKind::value},  // max_pool2d_with_indices_unused_1
          // 4: aten.convolution.default
          {.payload = 1, .kind = davit::ArgumentKind::int_},
          {.payload = 1, .kind = davit::ArgumentKind::int_},
          {.payload = 1, .kind = davit::ArgumentKind::int_},
          {.payload = 1, .kind = davit::ArgumentKind::int_},
          {.payload = 1, .kind = davit::ArgumentKind::int_},
          {.payload = 1, .kind = davit::ArgumentKind::int_},
          {.payload = 0, .kind = davit::ArgumentKind::int_},
          {.payload = 0, .kind = davit::ArgumentKind::int_},
          {.name = {0, 5}, .payload = 17, .kind = davit::ArgumentKind::value},  // input = getitem_3
          {.name = {5, 6}, .payload = 4, .kind = davit::ArgumentKind::value},  // weight = p_4_weight
          {.name = {11, 4}, .payload = 5, .kind = davit::ArgumentKind::value},  // bias = p_4_bias
          {.name = {15, 6}, .items = {52, 2}, .kind = davit::ArgumentKind::list},  // stride
          {.name = {21, 7}, .items = {54, 2}, .kind = davit::ArgumentKind::list},  // padding
          {.name = {28, 8}, .items = {56, 2}, .kind = davit::ArgumentKind::list},  // dilation
          {.name = {36, 10}, .payload = 0, .kind = davit::ArgumentKind::bool_},  // transposed
          {.name = {46, 14}, .items = {58, 2}, .kind = davit::ArgumentKind::list},  // output_padding
          {.name = {60, 6}, .payload = 1, .kind = davit::ArgumentKind::int_},  // groups
          {.payload = 19, .kind = davit::ArgumentKind::value},  // convolution_1
          // 5: aten.relu.default
          {.name = {173, 4}, .payload = 19, .kind = davit::ArgumentKind::value},  // self = convolution_1
          {.payload = 20, .kind = davit::ArgumentKind::value},  // relu_1
          // 6: aten.avg_pool2d.default
          {.payload = 2, .kind = davit::ArgumentKind::int_},
          {.payload = 2, .kind = davit::ArgumentKind::int_},
          {.payload = 2, .kind = davit::ArgumentKind::int_},
          {.payload = 2, .kind = davit::ArgumentKind::int_},
          {.name = {173, 4}, .payload = 20, .kind = davit::ArgumentKind::value},  // self = relu_1
          {.name = {194, 11}, .items = {72, 2}, .kind = davit::ArgumentKind::list},  // kernel_size
          {.name = {15, 6}, .items = {74, 2}, .kind = davit::ArgumentKind::list},  // stride
          {.payload = 21, .kind = davit::ArgumentKind::value},  // avg_pool2d
          // 7: aten.view.default
          {.payload = 1, .kind = davit::ArgumentKind::int_},
          {.payload = 64, .kind = davit::ArgumentKind::int_},
          {.name = {173, 4}, .payload = 21, .kind = davit::ArgumentKind::value},  // self = avg_pool2d
          {.name = {264, 4}, .items = {80, 2}, .kind = davit::ArgumentKind::list},  // size
          {.payload = 22, .kind = davit::ArgumentKind::value},  // view
          // 8: aten.permute.default
          {.payload = 1, .kind = davit::ArgumentKind::int_},
          {.payload = 0, .kind = davit::ArgumentKind::int_},
          {.name = {173, 4}, .payload = 6, .kind = davit::ArgumentKind::value},  // self = p_8_weight
          {.name = {285, 4}, .items = {85, 2}, .kind = davit::ArgumentKind::list},  // dims
          {.payload = 23, .kind = davit::ArgumentKind::value},  // permute
          // 9: aten.addmm.default
          {.name = {173, 4}, .payload = 7, .kind = davit::ArgumentKind::value},  // self = p_8_bias
          {.name = {309, 4}, .payload = 22, .kind = davit::ArgumentKind::value},  // mat1 = view
          {.name = {313, 4}, .payload = 23, .kind = davit::ArgumentKind::value},  // mat2 = permute
          {.payload = 24, .kind = davit::ArgumentKind::value},  // addmm
      }},
      .nodes = {{
          {.target = {66, 24}, .inputs = {21, 9}, .outputs = {30, 1}, .graph = 0},  // 0: convolution = aten.convolution.default(input, p_0_weight, p_0_bias)
          {.target = {124, 49}, .inputs = {31, 7}, .outputs = {38, 3}, .graph = 0},  // 1: getitem, _native_batch_norm_legit_no_training_unused_1, _native_batch_norm_legit_no_training_unused_2 = aten._native_batch_norm_legit_no_training.default(convolution, p_1_weight, p_1_bias, b_1_running_mean, b_1_running_var)
          {.target = {177, 17}, .inputs = {41, 1}, .outputs = {42, 1}, .graph = 0},  // 2: relu = aten.relu.default(getitem)
          {.target = {205, 36}, .inputs = {47, 3}, .outputs = {50, 2}, .graph = 0},  // 3: getitem_3, max_pool2d_with_indices_unused_1 = aten.max_pool2d_with_indices.default(relu)
          {.target = {66, 24}, .inputs = {60, 9}, .outputs = {69, 1}, .graph = 0},  // 4: convolution_1 = aten.convolution.default(getitem_3, p_4_weight, p_4_bias)
          {.target = {177, 17}, .inputs = {70, 1}, .outputs = {71, 1}, .graph = 0},  // 5: relu_1 = aten.relu.default(convolution_1)
          {.target = {241, 23}, .inputs = {76, 3}, .outputs = {79, 1}, .graph = 0},  // 6: avg_pool2d = aten.avg_pool2d.default(relu_1)
          {.target = {268, 17}, .inputs = {82, 2}, .outputs = {84, 1}, .graph = 0},  // 7: view = aten.view.default(avg_pool2d)
          {.target = {289, 20}, .inputs = {87, 2}, .outputs = {89, 1}, .graph = 0},  // 8: permute = aten.permute.default(p_8_weight)
          {.target = {317, 18}, .inputs = {90, 3}, .outputs = {93, 1}, .graph = 0},  // 9: addmm = aten.addmm.default(p_8_bias, view, permute)
      }},
      .graphs = {{{.inputs = {0, 12}, .outputs = {12, 1}, .nodes = {0, 10}}}},
      .metadata = {}};
  static const std::byte* weights() noexcept { return reinterpret_cast<const std::byte*>(digits_cnn_b1_constants::weights.data()); }
};
