// Written by `davit embed`: packed_firmware, exported by torch 2.6.0+debian.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string_view>

#include "davit/embed/static_program.hpp"

/// The constants that constant evaluation reads.
namespace packed_firmware_constants {
alignas(16) inline constexpr std::array<float, 32> b_first_bias{
    0.019237285f, -0.017772434f, 0.03213681f, 0.1879332f, 0.100576036f, 0.08708226f, -0.0690151f, -0.11933396f, 0.08314567f,
    0.057424735f, 0.026481528f, 0.1026412f, -0.036999166f, 0.0757122f, 0.031963326f, 0.15330687f, 0.08182668f, 0.12511514f,
    -0.045705017f, -0.10858065f, 0.0043081767f, 0.049519908f, -0.09355423f, -0.06429411f, -0.1276344f, -0.06658934f,
    -0.019823251f, 0.21850269f, -0.004489245f, -0.116162114f, -0.059209883f, 0.07456973f,};
alignas(16) inline constexpr std::array<float, 64> b_second_bias{
    0.13706185f, -0.00510417f, 0.26697314f, -0.050106842f, 0.062916055f, -0.012529622f, -0.059128195f, 0.079395786f,
    -0.0819295f, -0.2135057f, 0.06553889f, 0.2254041f, 0.033631604f, -0.13748744f, 0.024916071f, 0.08947551f, -0.090621844f,
    0.1334486f, -0.031644087f, 0.05745239f, 0.10954108f, 0.14464486f, -0.03858472f, -0.11766262f, -0.010242107f, -0.06331862f,
    -0.12167408f, 0.2574373f, 0.03999892f, 0.022239706f, 0.08415401f, -0.050594985f, -0.028587082f, -0.09648895f, 0.15388018f,
    -0.16737284f, -0.035810944f, -0.042490955f, -0.13430975f, -0.042279985f, 0.26376304f, -0.051753093f, 0.010112887f,
    -0.0066312286f, -0.03473001f, -0.0012639295f, 0.07314107f, -0.15692873f, 0.07416139f, -0.16128384f, 0.027410029f,
    -0.06852958f, -0.0032079087f, -0.024642391f, 0.008941178f, -0.07765449f, 0.05921319f, -0.1230155f, 0.02618806f,
    -0.011228044f, -0.041395467f, 0.019295858f, -0.20206152f, -0.058398016f,};
alignas(16) inline constexpr std::array<float, 21> b_third_bias{
    -0.024401018f, -0.028441632f, -0.06557663f, -0.038373735f, -0.039084136f, 0.16749279f, -0.00012254025f, 0.12924929f,
    -0.10012052f, 0.07415001f, -0.08338232f, 0.017092567f, -0.05604055f, -0.17377374f, 0.18147516f, 0.0955477f, -0.08231812f,
    0.18527082f, 0.011153745f, 0.037945755f, -0.043833435f,};
alignas(16) inline constexpr std::array<float, 11> b_head_bias{
    0.039459456f, -0.13725705f, 0.0155877f, 0.11145444f, -0.047109686f, -0.0896012f, 0.021910971f, -0.043006036f, 0.12838966f,
    -0.029045342f, 0.1692032f,};
alignas(16) inline constexpr std::array<float, 10> b_last_bias{
    0.0074077384f, 0.066859476f, -0.071512714f, 0.077890955f, -0.22492085f, 0.022834875f, 0.036414526f, 0.0456313f,
    -0.09240016f, 0.06116091f,};
alignas(16) inline constexpr std::array<float, 32> m_packed_dequantize_per_channel_scales{
    0.00977397f, 0.012112142f, 0.00852776f, 0.019299688f, 0.015949897f, 0.011578657f, 0.013984776f, 0.014801721f, 0.023574304f,
    0.023926664f, 0.0073015196f, 0.018664967f, 0.018861476f, 0.018823676f, 0.013636684f, 0.017500881f, 0.017516363f,
    0.024732988f, 0.005415722f, 0.011205243f, 0.00827198f, 0.010149297f, 0.016963381f, 0.021098837f, 0.0074378597f,
    0.021504119f, 0.023353022f, 0.010070929f, 0.016745385f, 0.009866225f, 0.017141867f, 0.010363772f,};
alignas(16) inline constexpr std::array<float, 64> m_packed_dequantize_per_channel_1_scales{
    0.0058254385f, 0.018456552f, 0.012447139f, 0.012890315f, 0.020215351f, 0.016752534f, 0.008950479f, 0.010385296f,
    0.013479903f, 0.012529348f, 0.012883003f, 0.00816491f, 0.022244263f, 0.020186218f, 0.016973458f, 0.017264213f, 0.01617068f,
    0.02247734f, 0.017262809f, 0.01652332f, 0.00950289f, 0.018335914f, 0.0056445333f, 0.018153884f, 0.0063321064f, 0.010861282f,
    0.020279385f, 0.00904388f, 0.02296273f, 0.009474795f, 0.024471909f, 0.01808212f, 0.010666458f, 0.021098789f, 0.006144073f,
    0.008665092f, 0.0087349005f, 0.016316399f, 0.01598243f, 0.006398928f, 0.024649605f, 0.014990442f, 0.009660033f,
    0.015238862f, 0.010707466f, 0.01775892f, 0.018620092f, 0.012163389f, 0.015582981f, 0.020950079f, 0.008495687f, 0.01277012f,
    0.013524754f, 0.008383871f, 0.015814472f, 0.015367526f, 0.0069227135f, 0.017051369f, 0.024544664f, 0.020318937f,
    0.009575619f, 0.024153665f, 0.00812606f, 0.009915542f,};
alignas(16) inline constexpr std::array<float, 10> m_packed_dequantize_per_channel_2_scales{
    0.009244566f, 0.019674046f, 0.015433109f, 0.0071101473f, 0.021358084f, 0.024637207f, 0.020475723f, 0.013407637f,
    0.006610292f, 0.023567162f,};
}  // namespace packed_firmware_constants

static_assert(std::endian::native == std::endian::little, "davit: these weights are little-endian");
namespace packed_firmware_constants {
[[gnu::section(".rodata.davit.weights.packed_firmware")]] alignas(16) inline constexpr char weights[] =
    "\264\207\275\330\153\163\173\217\241\273\15\232\274\137\276\260\140\364\202\231\36\37\177\206\160\51\315\361\265\140\61\254"
    "\157\264\332\110\30\54\315\75\316\340\314\171\167\314\261\102\302\307\0\151\171\317\261\41\373\176\137\323\326\212\223\330"
    "\241\153\270\147\75\266\250\151\272\314\232\250\65\153\32\42\225\310\57\355\61\7\70\242\272\203\202\347\217\343\272\141"
    "\122\73\100\344\120\25\126\60\5\212\13\126\332\143\25\210\100\20\353\327\120\262\232\0\214\313\64\65\26\350\334\173"
    "\125\337\360\60\207\61\12\300\56\347\63\336\127\105\161\11\247\76\264\20\365\320\273\152\307\333\122\264\276\373\36\26"
    "\321\157\213\146\2\132\224\233\207\261\2\63\5\317\317\205\35\271\364\112\272\240\151\135\220\227\254\230\123\312\135\246"
    "\35\115\64\224\35\45\212\347\163\215\57\317\143\16\306\171\276\277\12\4\63\133\71\141\365\206\275\1\361\372\130\43"
    "\311\360\114\137\50\43\304\154\221\70\262\266\36\244\334\252\274\156\333\42\73\377\100\105\245\135\370\220\347\47\335\203"
    "\26\243\110\202\4\253\122\371\2\301\304\105\221\376\156\357\20\305\220\337\30\360\76\120\227\261\320\373\276\351\357\374"
    "\21\111\61\176\270\273\100\254\231\54\255\230\73\266\102\311\54\234\234\210\370\7\42\305\260\326\343\263\247\27\14\116"
    "\71\144\34\262\370\320\325\113\1\75\155\211\17\265\346\20\56\274\257\73\375\203\264\53\156\214\277\353\227\110\75\23"
    "\352\105\161\254\41\265\343\151\213\132\114\165\41\7\217\54\61\126\374\151\352\125\326\145\177\32\353\321\62\257\362\116"
    "\231\201\332\12\244\166\275\103\156\334\67\265\12\344\306\345\112\271\344\250\101\110\352\320\73\325\122\30\302\343\120\320"
    "\123\327\171\73\45\273\42\240\26\61\35\265\135\156\250\321\46\317\235\327\171\155\16\264\322\2\303\56\226\366\0\237"
    "\352\31\246\311\377\275\203\106\330\314\127\211\131\245\264\236\366\56\230\152\133\277\44\301\46\232\363\314\201\46\250\104"
    "\242\317\154\110\12\256\21\12\374\44\61\101\4\255\274\102\274\121\342\204\40\271\355\77\270\22\351\262\253\241\252\340"
    "\114\123\36\270\14\325\301\332\71\224\67\176\151\117\164\115\336\11\242\36\125\156\116\116\23\332\355\306\212\12\53\152"
    "\275\107\347\375\315\203\131\207\370\170\50\110\266\122\264\205\210\25\302\317\336\173\15\154\13\207\234\335\24\24\102\151"
    "\267\376\126\71\214\330\314\337\126\337\263\66\17\205\236\332\106\316\230\123\127\327\212\343\17\6\357\146\162\272\316\311"
    "\2\202\363\333\176\164\55\22\25\341\0\364\171\333\20\223\202\206\65\151\326\346\275\166\340\130\73\77\225\364\371\57"
    "\310\237\7\156\250\274\272\137\75\126\312\220\42\355\176\256\334\311\55\43\34\235\335\36\313\320\371\307\314\172\241\77"
    "\312\371\346\373\270\343\31\261\131\367\225\76\261\120\45\376\13\70\117\2\313\322\266\342\25\132\355\61\157\247\26\113"
    "\53\15\337\105\46\323\141\163\230\104\63\37\367\63\51\132\255\224\150\215\220\201\220\232\103\344\15\13\131\57\267\253"
    "\30\357\174\167\116\370\75\7\27\53\7\113\121\244\145\142\314\361\370\116\75\326\73\110\170\131\372\70\123\143\132\172"
    "\46\172\114\264\31\31\371\77\61\210\161\42\310\232\267\331\154\376\130\356\64\156\67\242\132\100\376\276\315\32\375\210"
    "\70\271\140\73\355\166\2\7\130\111\162\251\53\177\141\225\113\177\210\12\74\365\102\374\116\210\311\77\76\135\15\217"
    "\234\205\224\105\355\107\265\317\272\354\306\144\241\277\355\110\274\141\134\270\112\15\226\275\126\73\270\230\331\261\341\72"
    "\54\260\115\237\202\222\305\51\45\205\142\100\52\250\110\234\132\263\165\231\303\372\332\353\34\162\244\126\337\115\45\251"
    "\12\5\171\173\40\273\130\377\4\333\365\240\372\114\13\211\104\376\302\2\155\162\300\307\43\214\313\56\15\213\146\217"
    "\246\234\357\267\204\273\37\337\232\263\365\232\231\377\23\305\130\117\246\75\201\77\271\251\132\304\214\211\54\35\60\264"
    "\40\253\66\10\374\274\170\372\103\135\275\220\212\225\205\17\164\3\53\324\276\47\131\50\272\232\126\215\147\347\235\351"
    "\61\155\64\145\262\217\10\123\11\234\4\361\326\165\365\35\311\205\376\144\242\135\274\34\334\317\212\72\56\315\322\43"
    "\147\124\213\232\5\213\131\167\71\332\244\7\203\117\312\217\33\66\160\66\351\142\63\306\376\125\254\36\127\5\206\162"
    "\360\106\76\12\276\6\7\26\23\161\125\104\306\55\53\307\331\250\217\256\352\351\270\336\305\362\271\56\257\346\24\151"
    "\307\151\263\175\331\301\133\151\303\30\217\213\21\325\216\354\353\360\46\324\21\2\116\4\227\64\143\132\163\311\357\317"
    "\32\77\125\260\55\377\167\247\1\161\236\261\241\233\146\365\342\62\320\7\67\3\223\325\146\257\175\37\122\337\231\15"
    "\31\102\7\257\103\0\275\267\46\370\311\101\155\11\154\262\133\251\237\65\255\155\64\25\337\2\7\6\257\246\53\62"
    "\104\223\360\214\46\251\24\171\67\142\270\302\23\45\72\262\70\247\10\5\36\354\313\233\11\170\326\317\160\263\76\324"
    "\37\136\164\2\263\67\116\41\13\333\72\37\213\141\141\375\70\145\351\216\227\44\105\76\63\342\127\174\342\175\317\242"
    "\132\2\34\322\246\34\153\4\311\110\307\216\56\110\121\64\112\275\337\57\226\371\53\147\332\110\173\72\272\145\42\52"
    "\21\263\73\263\30\56\367\133\16\306\363\41\15\31\125\104\267\47\134\351\26\335\62\226\370\133\76\265\313\67\165\370"
    "\204\226\346\330\33\307\135\16\363\3\356\237\314\43\17\332\111\356\342\272\22\126\25\43\266\317\302\226\262\35\337\221"
    "\24\364\301\17\344\235\254\162\112\10\125\300\77\371\31\51\145\267\320\324\360\13\212\75\76\114\255\357\323\222\41\130"
    "\266\135\146\211\221\126\64\246\252\273\310\65\324\164\144\7\255\71\36\247\11\347\261\176\305\51\224\155\356\345\112\7"
    "\60\220\4\15\272\212\75\25\241\175\34\262\345\303\111\362\146\55\305\75\213\320\63\137\107\125\122\47\71\363\77\135"
    "\66\60\263\311\306\176\303\222\316\121\170\132\60\176\266\16\362\322\261\72\367\146\11\337\320\233\373\101\144\347\230\17"
    "\122\331\152\246\150\165\272\203\367\22\74\354\26\0\234\77\317\124\56\200\64\334\144\133\6\275\26\222\324\52\170\71"
    "\223\305\61\165\145\130\100\22\11\56\67\341\364\325\377\2\202\343\263\375\245\351\274\105\157\320\5\157\24\337\61\201"
    "\302\65\367\176\161\123\271\347\67\74\362\77\215\352\302\256\323\73\72\142\30\64\41\255\100\231\70\44\264\121\206\63"
    "\4\176\350\57\221\313\303\60\134\127\34\4\355\151\116\247\253\340\350\15\100\237\165\215\336\215\57\223\102\314\163\103"
    "\247\322\145\311\241\310\245\173\201\224\324\153\63\110\320\6\326\230\370\42\115\177\267\253\276\170\252\266\370\367\122\227"
    "\44\154\104\76\326\222\57\246\344\10\250\46\156\34\125\174\123\26\41\15\45\215\163\140\155\321\351\201\104\354\216\347"
    "\237\151\127\147\71\305\35\6\310\316\374\142\214\374\77\72\322\265\60\47\61\121\143\262\55\72\176\201\265\315\236\202"
    "\322\361\104\341\73\61\347\102\153\67\343\134\136\235\17\131\146\154\252\150\132\223\300\303\47\313\177\247\307\6\365\44"
    "\101\26\225\4\65\6\160\345\201\106\144\204\255\265\105\243\371\263\147\301\35\356\31\344\302\63\224\240\203\204\57\363"
    "\376\352\142\143\341\242\64\225\140\320\352\31\162\104\32\263\361\323\134\123\52\46\251\356\346\50\66\232\25\56\206\173"
    "\31\73\326\333\11\303\173\154\333\201\261\225\155\356\0\342\13\134\55\340\47\263\72\101\173\252\241\305\47\371\251\102"
    "\74\214\61\23\244\131\127\255\113\37\347\14\27\225\222\232\327\350\11\146\137\226\146\310\336\123\115\21\106\204\320\345"
    "\261\51\351\353\251\222\56\162\370\17\3\76\143\74\301\252\303\61\103\0\247\62\167\30\323\106\113\170\235\377\177\164"
    "\325\277\11\55\150\117\25\120\214\55\372\150\245\40\16\363\176\170\155\225\12\242\7\36\5\360\114\167\30\273\342\274"
    "\337\306\247\377\52\277\363\260\234\133\302\326\270\152\242\64\106\306\71\123\106\202\46\123\153\214\214\216\301\61\133\337"
    "\355\121\366\52\22\210\77\71\23\301\161\102\4\330\257\104\243\363\267\323\175\54\351\306\24\4\170\212\55\54\64\207"
    "\12\176\145\324\124\71\26\335\221\135\12\53\103\373\365\233\41\207\305\350\1\174\256\110\223\253\233\214\222\347\311\144"
    "\374\363\127\227\315\21\13\176\62\210\272\46\145\166\306\50\276\347\331\265\273\373\212\154\154\22\366\54\101\315\200\67"
    "\253\255\304\363\11\1\322\331\142\275\41\362\340\201\5\113\135\123\327\55\73\166\0\21\324\7\361\277\174\337\31\113"
    "\376\362\335\63\153\112\153\146\241\231\47\363\336\107\141\213\353\217\326\327\347\67\331\130\266\120\271\107\17\265\117\66"
    "\323\161\103\233\163\3\33\16\322\2\274\105\144\204\172\346\27\133\351\367\3\177\126\140\326\353\277\363\256\77\361\16"
    "\332\205\273\171\0\163\211\10\26\302\122\170\347\75\31\202\143\11\77\352\116\353\46\305\14\34\163\103\215\370\330\345"
    "\213\245\362\7\41\4\130\206\154\352\151\164\162\337\311\364\174\170\16\142\54\356\314\310\32\7\300\63\107\326\127\277"
    "\74\224\302\304\223\12\24\72\105\257\325\4\241\175\32\307\203\341\36\351\127\242\272\107\244\216\32\350\226\44\307\303"
    "\272\175\146\122\272\45\273\352\253\320\2\372\74\277\262\365\303\72\232\346\110\337\2\45\367\123\310\241\175\114\160\76"
    "\112\121\365\250\331\224\334\241\234\133\130\255\143\42\140\20\256\23\357\144\225\14\56\364\111\35\237\235\234\25\365\20"
    "\240\141\153\42\342\305\227\204\115\311\165\311\370\203\217\376\201\370\324\256\246\121\307\154\136\204\302\377\267\116\116\16"
    "\136\156\224\315\244\72\125\236\176\335\244\130\232\325\171\256\56\247\107\164\216\322\232\270\54\215\377\233\36\275\115\341"
    "\335\376\121\76\371\345\343\335\62\14\337\176\273\372\133\256\17\112\261\106\75\350\172\300\211\60\352\344\266\300\16\345"
    "\210\230\33\303\155\207\245\317\3\250\141\241\66\363\343\260\302\232\236\55\374\22\213\203\133\321\104\377\214\334\135\241"
    "\210\1\77\265\35\30\26\153\355\42\304\27\273\312\142\172\51\230\7\207\65\41\151\62\42\271\337\172\237\50\104\244"
    "\144\126\223\143\211\167\234\217\121\260\334\322\154\343\36\175\132\222\301\215\77\246\206\35\126\361\40\171\145\35\260\141"
    "\360\357\325\17\325\60\71\301\200\26\221\170\4\206\263\377\213\377\255\202\353\340\162\373\371\73\223\253\126\6\143\324"
    "\211\37\313\151\356\200\72\157\20\301\176\241\100\165\255\310\257\371\107\303\201\227\344\306\76\214\216\242\40\47\376\141"
    "\36\216\344\317\305\77\230\61\363\124\74\151\134\61\47\215\31\4\107\212\202\62\104\202\162\104\120\246\357\107\5\102"
    "\133\66\125\17\333\373\335\315\306\165\374\0\2\321\352\346\233\323\176\70\223\235\16\61\375\34\63\263\333\150\245\355"
    "\307\124\13\5\60\305\134\160\170\220\2\14\10\75\135\272\373\24\152\204\242\361\267\44\115\326\227\337\225\235\145\240"
    "\114\173\231\23\341\111\172\100\31\77\240\332\341\176\75\127\251\26\235\300\14\6\276\375\45\124\256\26\230\152\55\76"
    "\6\11\371\316\45\353\25\356\15\154\272\377\160\0\170\317\112\153\370\74\160\50\23\44\342\34\352\216\252\227\52\312"
    "\54\300\270\74\231\126\177\74\357\24\24\74\267\73\163\74\330\176\156\74\357\146\74\74\305\54\245\73\63\102\243\74"
    "\41\226\324\73\22\315\267\74\114\246\207\74\150\35\200\74\210\216\253\74\20\32\110\74\242\353\33\74\334\0\202\74"
    "\104\162\74\74\342\121\224\74\216\316\23\74\256\223\200\74\316\250\312\74\304\375\212\74\72\302\213\74\263\250\125\74"
    "\213\25\16\74\270\376\137\74\53\160\103\74\12\363\310\74\374\32\266\74\44\270\252\73\76\375\130\74\72\365\243\74"
    "\165\125\160\74\16\123\274\74\222\302\323\73\16\154\265\74\374\5\301\74\56\11\265\73\12\361\57\74\314\363\255\74"
    "\14\305\147\74\122\76\302\74\0\0\0\0\0\0\0\0\263\357\166\0\264\300\307\146\106\301\74\226\70\266\5\6"
    "\13\152\151\304\354\77\56\244\120\347\170\31\205\211\253\177\221\321\310\247\355\110\42\225\154\77\237\71\360\136\25\335"
    "\206\373\341\210\246\34\316\157\371\153\140\156\204\131\257\11\211\2\132\177\3\315\202\300\115\253\372\315\314\320\126\151"
    "\336\107\353\224\305\137\170\161\66\334\274\122\35\342\0\363\253\263\321\136\217\10\13\74\354\324\305\232\17\45\132\254"
    "\275\122\360\24\304\233\227\11\101\56\102\177\240\211\1\337\15\133\310\311\57\106\374\142\374\314\324\364\314\167\35\336"
    "\41\211\234\10\111\233\41\132\230\326\37\345\102\352\161\2\31\46\35\21\375\56\363\341\50\153\65\362\77\212\121\150"
    "\316\205\10\252\356\367\100\127\160\56\373\6\132\213\251\122\11\216\353\122\356\37\61\174\330\120\132\26\364\262\353\12"
    "\365\215\25\112\220\301\211\202\25\174\210\261\6\344\246\214\41\256\75\104\316\23\41\271\266\354\154\167\72\41\206\3"
    "\1\35\207\342\215\32\150\234\270\335\232\105\253\132\67\201\375\136\164\61\311\344\352\107\16\147\356\204\257\210\215\14"
    "\344\54\50\71\50\120\35\312\300\130\255\302\210\140\3\235\217\163\245\54\71\204\370\241\375\331\123\307\200\371\36\10"
    "\330\112\245\325\351\303\71\334\76\30\134\66\12\0\314\342\175\113\262\265\2\42\13\266\14\130\131\133\26\101\307\144"
    "\70\245\2\176\3\4\100\256\333\46\346\324\5\327\146\0\44\175\361\73\270\340\67\74\44\41\316\73\60\337\276\74"
    "\160\71\234\74\234\145\137\74\314\220\270\74\264\302\203\74\243\250\201\74\344\300\312\74\320\144\266\74\113\72\125\74"
    "\74\376\62\74\32\137\15\74\274\55\45\74\230\165\200\74\20\256\225\74\372\147\224\74\134\140\275\74\344\342\214\74"
    "\324\114\376\73\350\15\47\74\0\0\0\0\0\0\0\0\44\175\161\274\0\0\0\0\44\41\116\74\60\337\276\75"
    "\50\126\152\75\234\145\337\74\314\220\70\275\264\302\3\275\243\250\201\74\0\0\0\0\320\144\66\75\0\0\0\0"
    "\74\376\62\74\247\16\324\74\274\55\45\75\0\0\0\0\30\205\140\75\367\233\136\75\134\140\75\75\344\342\214\75"
    "\0\0\0\0\350\15\47\74\0\0\0\0\0\0\0\0\263\357\166\0\264\300\307\146\106\301\74\226\70\266\5\6"
    "\13\152\151\304\354\77\56\244\120\347\170\31\205\211\253\177\221\321\310\247\355\110\42\225\154\77\237\71\360\136\25\335"
    "\227\14\362\231\267\55\337\160\12\174\161\177\225\152\260\32\211\2\132\177\3\315\202\300\115\253\372\315\314\320\126\151"
    "\336\107\353\224\305\137\170\161\66\334\274\122\35\342\0\363\274\304\342\157\220\31\34\115\375\345\326\253\20\66\153\275"
    "\275\122\360\24\304\233\227\11\101\56\102\177\240\211\1\337\15\133\310\311\57\106\374\142\374\314\324\364\314\167\35\336"
    "\41\211\234\10\111\233\41\132\230\326\37\345\102\352\161\2\31\46\35\21\375\56\363\341\50\153\65\362\77\212\121\150"
    "\316\205\10\252\356\367\100\127\160\56\373\6\132\213\251\122\11\216\353\122\356\37\61\174\330\120\132\26\364\262\353\12"
    "\365\215\25\112\220\301\211\202\25\174\210\261\6\344\246\214\41\256\75\104\316\23\41\271\266\354\154\167\72\41\206\3"
    "\1\35\207\342\215\32\150\234\270\335\232\105\253\132\67\201\375\136\164\61\311\344\352\107\16\147\356\204\257\210\215\14"
    "\344\54\50\71\50\120\35\312\300\130\255\302\210\140\3\235\217\163\245\54\71\204\370\241\375\331\123\307\200\371\36\10"
    "\351\133\266\346\372\324\112\355\117\51\155\107\33\21\335\363\175\113\262\265\2\42\13\266\14\130\131\133\26\101\307\144"
    "\70\245\2\176\3\4\100\256\333\46\346\324\5\327\146\0\40\65\177\160\31\133\352\146\40\217\111\140\174\56\266\207"
    "\116\71\147\162\362\226\137\131\375\15\23\316\325\17\64\341\105\220\375\100\20\154\135\112\366\211\342\265\132\202\264\31"
    "\351\163\310\17\221\77\41\274\35\254\244\164\262\212\62\202\156\346\154\73\304\50\303\30\120\164\40\61\132\220\335\260"
    "\272\304\116\56\223\250\302\2\247\231\346\5\133\130\257\60\45\143\5\311\377\267\161\303\362\174\201\314\302\72\0\0";
}  // namespace packed_firmware_constants

/// forward: x float32 [2, 64] -> dequantize_per_tensor_3 float32 [2, 21], linear_4 float32 [2, 11], linear_5 float32 [2, 10]
struct packed_firmware {
  static constexpr std::string_view name = "packed_firmware";
  static constexpr std::array<davit::StaticInput, 31> inputs{
      davit::StaticInput{.role = davit::StaticRole::unused},  // 0: b_first_weight
      davit::StaticInput{.role = davit::StaticRole::unused},  // 1: b_first_scales
      davit::StaticInput{.role = davit::StaticRole::unused},  // 2: b_no_zeros
      davit::StaticInput{.role = davit::StaticRole::constant, .data = davit::ConstantData::in_array(packed_firmware_constants::b_first_bias)},  // 3: b_first_bias
      davit::StaticInput{.role = davit::StaticRole::unused},  // 4: b_second_weight
      davit::StaticInput{.role = davit::StaticRole::unused},  // 5: b_second_scales
      davit::StaticInput{.role = davit::StaticRole::constant, .data = davit::ConstantData::in_array(packed_firmware_constants::b_second_bias)},  // 6: b_second_bias
      davit::StaticInput{.role = davit::StaticRole::unused},  // 7: b_third_weight
      davit::StaticInput{.role = davit::StaticRole::unused},  // 8: b_third_scales
      davit::StaticInput{.role = davit::StaticRole::constant, .data = davit::ConstantData::in_array(packed_firmware_constants::b_third_bias)},  // 9: b_third_bias
      davit::StaticInput{.role = davit::StaticRole::unused},  // 10: b_head_zeros
      davit::StaticInput{.role = davit::StaticRole::unused},  // 11: b_head_weight
      davit::StaticInput{.role = davit::StaticRole::unused},  // 12: b_head_scales
      davit::StaticInput{.role = davit::StaticRole::constant, .data = davit::ConstantData::in_array(packed_firmware_constants::b_head_bias)},  // 13: b_head_bias
      davit::StaticInput{.role = davit::StaticRole::unused},  // 14: b_last_weight
      davit::StaticInput{.role = davit::StaticRole::unused},  // 15: b_last_scales
      davit::StaticInput{.role = davit::StaticRole::constant, .data = davit::ConstantData::in_array(packed_firmware_constants::b_last_bias)},  // 16: b_last_bias
      davit::StaticInput{.role = davit::StaticRole::constant, .data = davit::ConstantData::in_blob(davit::ScalarType::uint8, 1024, 0)},  // 17: _packed_dequantize_per_channel_words
      davit::StaticInput{.role = davit::StaticRole::constant, .data = davit::ConstantData::in_array(packed_firmware_constants::m_packed_dequantize_per_channel_scales)},  // 18: _packed_dequantize_per_channel_scales
      davit::StaticInput{.role = davit::StaticRole::constant, .data = davit::ConstantData::in_blob(davit::ScalarType::uint8, 1024, 1024)},  // 19: _packed_dequantize_per_channel_1_words
      davit::StaticInput{.role = davit::StaticRole::constant, .data = davit::ConstantData::in_array(packed_firmware_constants::m_packed_dequantize_per_channel_1_scales)},  // 20: _packed_dequantize_per_channel_1_scales
      davit::StaticInput{.role = davit::StaticRole::constant, .data = davit::ConstantData::in_blob(davit::ScalarType::uint8, 672, 2048)},  // 21: _packed_dequantize_per_channel_group_words
      davit::StaticInput{.role = davit::StaticRole::constant, .data = davit::ConstantData::in_blob(davit::ScalarType::float32, 42, 2720)},  // 22: _packed_dequantize_per_channel_group_scales
      davit::StaticInput{.role = davit::StaticRole::constant, .data = davit::ConstantData::in_blob(davit::ScalarType::uint8, 352, 2896)},  // 23: _packed_dequantize_per_channel_group_1_words
      davit::StaticInput{.role = davit::StaticRole::constant, .data = davit::ConstantData::in_blob(davit::ScalarType::float32, 22, 3248)},  // 24: _packed_dequantize_per_channel_group_1_scales
      davit::StaticInput{.role = davit::StaticRole::constant, .data = davit::ConstantData::in_blob(davit::ScalarType::float32, 22, 3344)},  // 25: _packed_dequantize_per_channel_group_1_offsets
      davit::StaticInput{.role = davit::StaticRole::constant, .data = davit::ConstantData::in_blob(davit::ScalarType::uint8, 352, 3440)},  // 26: _packed_dequantize_per_channel_group_2_words
      davit::StaticInput{.role = davit::StaticRole::constant, .data = davit::ConstantData::in_blob(davit::ScalarType::float32, 22, 3248)},  // 27: _packed_dequantize_per_channel_group_2_scales
      davit::StaticInput{.role = davit::StaticRole::constant, .data = davit::ConstantData::in_blob(davit::ScalarType::uint8, 110, 3792)},  // 28: _packed_dequantize_per_channel_2_words
      davit::StaticInput{.role = davit::StaticRole::constant, .data = davit::ConstantData::in_array(packed_firmware_constants::m_packed_dequantize_per_channel_2_scales)},  // 29: _packed_dequantize_per_channel_2_scales
      davit::StaticInput{.role = davit::StaticRole::user},  // 30: x
  };
  static constexpr std::array<davit::StaticOutput, 3> outputs{
      davit::StaticOutput{},  // 0: dequantize_per_tensor_3
      davit::StaticOutput{},  // 1: linear_4
      davit::StaticOutput{},  // 2: linear_5
  };
  using kind = davit::ArgumentKind;
  using dtype = davit::ScalarType;
  static constexpr davit::StaticGraphTables<49, 67, 31, 3, 105, 19, 0> tables{
      .sizes = {
          32, 64, 32, 64, 64, 32, 21, 64, 21, 2, 21, 11, 2, 11, 64, 11, 10, 22, 10, 2, 64, 2, 32, 2, 21, 2, 11, 2, 22, 2,
          10, 42, 32, 42, 1, 22, 32, 22, 1, 32, 32, 64, 16, 21, 32, 11, 32, 10, 11,},
      // name, sizes (first, rank), elements, node (-1 - i: graph input i), users, element type
      .values = {{
          {"b_first_weight", 0, 2, 2048, -1, 0, dtype::int8},  // 0: b_first_weight int8 [32, 64]
          {"b_first_scales", 2, 1, 32, -2, 0, dtype::float32},  // 1: b_first_scales float32 [32]
          {"b_no_zeros", 3, 1, 64, -3, 0, dtype::int64},  // 2: b_no_zeros int64 [64]
          {"b_first_bias", 2, 1, 32, -4, 1, dtype::float32},  // 3: b_first_bias float32 [32]
          {"b_second_weight", 4, 2, 2048, -5, 0, dtype::int8},  // 4: b_second_weight int8 [64, 32]
          {"b_second_scales", 3, 1, 64, -6, 0, dtype::float32},  // 5: b_second_scales float32 [64]
          {"b_second_bias", 3, 1, 64, -7, 1, dtype::float32},  // 6: b_second_bias float32 [64]
          {"b_third_weight", 6, 2, 1344, -8, 0, dtype::int8},  // 7: b_third_weight int8 [21, 64]
          {"b_third_scales", 8, 2, 42, -9, 0, dtype::float32},  // 8: b_third_scales float32 [21, 2]
          {"b_third_bias", 10, 1, 21, -10, 1, dtype::float32},  // 9: b_third_bias float32 [21]
          {"b_head_zeros", 11, 2, 22, -11, 0, dtype::float32},  // 10: b_head_zeros float32 [11, 2]
          {"b_head_weight", 13, 2, 704, -12, 0, dtype::int8},  // 11: b_head_weight int8 [11, 64]
          {"b_head_scales", 11, 2, 22, -13, 0, dtype::float32},  // 12: b_head_scales float32 [11, 2]
          {"b_head_bias", 15, 1, 11, -14, 2, dtype::float32},  // 13: b_head_bias float32 [11]
          {"b_last_weight", 16, 2, 220, -15, 0, dtype::int8},  // 14: b_last_weight int8 [10, 22]
          {"b_last_scales", 18, 1, 10, -16, 0, dtype::float32},  // 15: b_last_scales float32 [10]
          {"b_last_bias", 18, 1, 10, -17, 1, dtype::float32},  // 16: b_last_bias float32 [10]
          {"x", 19, 2, 128, -31, 1, dtype::float32},  // 17: x float32 [2, 64]
          {"quantize_per_tensor", 19, 2, 128, 0, 1, dtype::int8},  // 18: quantize_per_tensor int8 [2, 64]
          {"dequantize_per_tensor", 19, 2, 128, 1, 1, dtype::float32},  // 19: dequantize_per_tensor float32 [2, 64]
          {"slice_1", 2, 1, 32, -1, 0, dtype::int64},  // 20: slice_1 int64 [32]
          {"dequantize_per_channel", 0, 2, 2048, -1, 0, dtype::float32},  // 21: dequantize_per_channel float32 [32, 64]
          {"linear", 21, 2, 64, 2, 1, dtype::float32},  // 22: linear float32 [2, 32]
          {"relu", 21, 2, 64, 3, 1, dtype::float32},  // 23: relu float32 [2, 32]
          {"quantize_per_tensor_1", 21, 2, 64, 4, 1, dtype::int8},  // 24: quantize_per_tensor_1 int8 [2, 32]
          {"dequantize_per_tensor_1", 21, 2, 64, 5, 1, dtype::float32},  // 25: dequantize_per_tensor_1 float32 [2, 32]
          {"dequantize_per_channel_1", 4, 2, 2048, -1, 0, dtype::float32},  // 26: dequantize_per_channel_1 float32 [64, 32]
          {"linear_1", 19, 2, 128, 6, 1, dtype::float32},  // 27: linear_1 float32 [2, 64]
          {"quantize_per_tensor_2", 19, 2, 128, 7, 1, dtype::int8},  // 28: quantize_per_tensor_2 int8 [2, 64]
          {"dequantize_per_tensor_2", 19, 2, 128, 8, 3, dtype::float32},  // 29: dequantize_per_tensor_2 float32 [2, 64]
          {"dequantize_per_channel_group", 6, 2, 1344, -1, 0, dtype::float32},  // 30: dequantize_per_channel_group float32 [21, 64]
          {"linear_2", 23, 2, 42, 9, 1, dtype::float32},  // 31: linear_2 float32 [2, 21]
          {"quantize_per_tensor_3", 23, 2, 42, 10, 1, dtype::int8},  // 32: quantize_per_tensor_3 int8 [2, 21]
          {"dequantize_per_tensor_3", 23, 2, 42, 11, 1, dtype::float32},  // 33: dequantize_per_tensor_3 float32 [2, 21]
          {"tanh", 19, 2, 128, 12, 1, dtype::float32},  // 34: tanh float32 [2, 64]
          {"dequantize_per_channel_group_1", 13, 2, 704, -1, 0, dtype::float32},  // 35: dequantize_per_channel_group_1 float32 [11, 64]
          {"linear_3", 25, 2, 22, 13, 1, dtype::float32},  // 36: linear_3 float32 [2, 11]
          {"tanh_1", 25, 2, 22, 14, 2, dtype::float32},  // 37: tanh_1 float32 [2, 11]
          {"dequantize_per_channel_group_2", 13, 2, 704, -1, 0, dtype::float32},  // 38: dequantize_per_channel_group_2 float32 [11, 64]
          {"linear_4", 25, 2, 22, 15, 1, dtype::float32},  // 39: linear_4 float32 [2, 11]
          {"neg", 25, 2, 22, 16, 1, dtype::float32},  // 40: neg float32 [2, 11]
          {"cat", 27, 2, 44, 17, 1, dtype::float32},  // 41: cat float32 [2, 22]
          {"slice_3", 18, 1, 10, -1, 0, dtype::int64},  // 42: slice_3 int64 [10]
          {"dequantize_per_channel_2", 16, 2, 220, -1, 0, dtype::float32},  // 43: dequantize_per_channel_2 float32 [10, 22]
          {"linear_5", 29, 2, 20, 18, 1, dtype::float32},  // 44: linear_5 float32 [2, 10]
          {"d0_view_1", 31, 2, 1344, -1, 0, dtype::int8},  // 45: d0_view_1 int8 [42, 32]
          {"d0_view_3", 33, 2, 42, -1, 0, dtype::float32},  // 46: d0_view_3 float32 [42, 1]
          {"d0_mul_4", 31, 2, 1344, -1, 0, dtype::float32},  // 47: d0_mul_4 float32 [42, 32]
          {"d0_view_8", 35, 2, 704, -1, 0, dtype::int8},  // 48: d0_view_8 int8 [22, 32]
          {"d0_view_10", 37, 2, 22, -1, 0, dtype::float32},  // 49: d0_view_10 float32 [22, 1]
          {"d0_sub_11", 35, 2, 704, -1, 0, dtype::float32},  // 50: d0_sub_11 float32 [22, 32]
          {"d0_view_13", 37, 2, 22, -1, 0, dtype::float32},  // 51: d0_view_13 float32 [22, 1]
          {"d0_mul_14", 35, 2, 704, -1, 0, dtype::float32},  // 52: d0_mul_14 float32 [22, 32]
          {"d0_mul_21", 35, 2, 704, -1, 0, dtype::float32},  // 53: d0_mul_21 float32 [22, 32]
          {"_packed_dequantize_per_channel_words", 39, 2, 1024, -18, 1, dtype::uint8},  // 54: _packed_dequantize_per_channel_words uint8 [32, 32]
          {"_packed_dequantize_per_channel_scales", 2, 1, 32, -19, 1, dtype::float32},  // 55: _packed_dequantize_per_channel_scales float32 [32]
          {"_packed_dequantize_per_channel_1_words", 41, 2, 1024, -20, 1, dtype::uint8},  // 56: _packed_dequantize_per_channel_1_words uint8 [64, 16]
          {"_packed_dequantize_per_channel_1_scales", 3, 1, 64, -21, 1, dtype::float32},  // 57: _packed_dequantize_per_channel_1_scales float32 [64]
          {"_packed_dequantize_per_channel_group_words", 43, 2, 672, -22, 1, dtype::uint8},  // 58: _packed_dequantize_per_channel_group_words uint8 [21, 32]
          {"_packed_dequantize_per_channel_group_scales", 23, 2, 42, -23, 1, dtype::float32},  // 59: _packed_dequantize_per_channel_group_scales float32 [2, 21]
          {"_packed_dequantize_per_channel_group_1_words", 45, 2, 352, -24, 1, dtype::uint8},  // 60: _packed_dequantize_per_channel_group_1_words uint8 [11, 32]
          {"_packed_dequantize_per_channel_group_1_scales", 25, 2, 22, -25, 1, dtype::float32},  // 61: _packed_dequantize_per_channel_group_1_scales float32 [2, 11]
          {"_packed_dequantize_per_channel_group_1_offsets", 25, 2, 22, -26, 1, dtype::float32},  // 62: _packed_dequantize_per_channel_group_1_offsets float32 [2, 11]
          {"_packed_dequantize_per_channel_group_2_words", 45, 2, 352, -27, 1, dtype::uint8},  // 63: _packed_dequantize_per_channel_group_2_words uint8 [11, 32]
          {"_packed_dequantize_per_channel_group_2_scales", 25, 2, 22, -28, 1, dtype::float32},  // 64: _packed_dequantize_per_channel_group_2_scales float32 [2, 11]
          {"_packed_dequantize_per_channel_2_words", 47, 2, 110, -29, 1, dtype::uint8},  // 65: _packed_dequantize_per_channel_2_words uint8 [10, 11]
          {"_packed_dequantize_per_channel_2_scales", 18, 1, 10, -30, 1, dtype::float32},  // 66: _packed_dequantize_per_channel_2_scales float32 [10]
      }},
      .inputs = {
          0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63, 64, 65, 66, 17,},
      .outputs = {
          33, 39, 44,},
      // name, kind, number or value (list: first item, count)
      .arguments = {{
          // 0: quantized_decomposed.quantize_per_tensor.default
          {"input", kind::value, 17},  // x
          {"scale", kind::float_, std::bit_cast<std::int64_t>(0.021)},
          {"zero_point", kind::int_, 3},
          {"quant_min", kind::int_, -128},
          {"quant_max", kind::int_, 127},
          {"dtype", kind::scalar_type, 1},
          {"", kind::value, 18},  // quantize_per_tensor
          // 1: quantized_decomposed.dequantize_per_tensor.default
          {"input", kind::value, 18},  // quantize_per_tensor
          {"scale", kind::float_, std::bit_cast<std::int64_t>(0.021)},
          {"zero_point", kind::int_, 3},
          {"quant_min", kind::int_, -128},
          {"quant_max", kind::int_, 127},
          {"dtype", kind::scalar_type, 1},
          {"", kind::value, 19},  // dequantize_per_tensor
          // 2: davit.linear_packed.rows
          {"input", kind::value, 19},  // dequantize_per_tensor
          {"weight", kind::value, 54},  // _packed_dequantize_per_channel_words
          {"scales", kind::value, 55},  // _packed_dequantize_per_channel_scales
          {"offsets", kind::none, 0},
          {"bias", kind::value, 3},  // b_first_bias
          {"", kind::value, 22},  // linear
          // 3: aten.relu.default
          {"self", kind::value, 22},  // linear
          {"", kind::value, 23},  // relu
          // 4: quantized_decomposed.quantize_per_tensor.default
          {"input", kind::value, 23},  // relu
          {"scale", kind::float_, std::bit_cast<std::int64_t>(0.013)},
          {"zero_point", kind::int_, -128},
          {"quant_min", kind::int_, -128},
          {"quant_max", kind::int_, 127},
          {"dtype", kind::scalar_type, 1},
          {"", kind::value, 24},  // quantize_per_tensor_1
          // 5: quantized_decomposed.dequantize_per_tensor.default
          {"input", kind::value, 24},  // quantize_per_tensor_1
          {"scale", kind::float_, std::bit_cast<std::int64_t>(0.013)},
          {"zero_point", kind::int_, -128},
          {"quant_min", kind::int_, -128},
          {"quant_max", kind::int_, 127},
          {"dtype", kind::scalar_type, 1},
          {"", kind::value, 25},  // dequantize_per_tensor_1
          // 6: davit.linear_packed.rows
          {"input", kind::value, 25},  // dequantize_per_tensor_1
          {"weight", kind::value, 56},  // _packed_dequantize_per_channel_1_words
          {"scales", kind::value, 57},  // _packed_dequantize_per_channel_1_scales
          {"offsets", kind::none, 0},
          {"bias", kind::value, 6},  // b_second_bias
          {"", kind::value, 27},  // linear_1
          // 7: quantized_decomposed.quantize_per_tensor.default
          {"input", kind::value, 27},  // linear_1
          {"scale", kind::float_, std::bit_cast<std::int64_t>(0.011)},
          {"zero_point", kind::int_, -7},
          {"quant_min", kind::int_, -128},
          {"quant_max", kind::int_, 127},
          {"dtype", kind::scalar_type, 1},
          {"", kind::value, 28},  // quantize_per_tensor_2
          // 8: quantized_decomposed.dequantize_per_tensor.default
          {"input", kind::value, 28},  // quantize_per_tensor_2
          {"scale", kind::float_, std::bit_cast<std::int64_t>(0.011)},
          {"zero_point", kind::int_, -7},
          {"quant_min", kind::int_, -128},
          {"quant_max", kind::int_, 127},
          {"dtype", kind::scalar_type, 1},
          {"", kind::value, 29},  // dequantize_per_tensor_2
          // 9: davit.linear_packed.rows
          {"input", kind::value, 29},  // dequantize_per_tensor_2
          {"weight", kind::value, 58},  // _packed_dequantize_per_channel_group_words
          {"scales", kind::value, 59},  // _packed_dequantize_per_channel_group_scales
          {"offsets", kind::none, 0},
          {"bias", kind::value, 9},  // b_third_bias
          {"", kind::value, 31},  // linear_2
          // 10: quantized_decomposed.quantize_per_tensor.default
          {"input", kind::value, 31},  // linear_2
          {"scale", kind::float_, std::bit_cast<std::int64_t>(0.019)},
          {"zero_point", kind::int_, 11},
          {"quant_min", kind::int_, -128},
          {"quant_max", kind::int_, 127},
          {"dtype", kind::scalar_type, 1},
          {"", kind::value, 32},  // quantize_per_tensor_3
          // 11: quantized_decomposed.dequantize_per_tensor.default
          {"input", kind::value, 32},  // quantize_per_tensor_3
          {"scale", kind::float_, std::bit_cast<std::int64_t>(0.019)},
          {"zero_point", kind::int_, 11},
          {"quant_min", kind::int_, -128},
          {"quant_max", kind::int_, 127},
          {"dtype", kind::scalar_type, 1},
          {"", kind::value, 33},  // dequantize_per_tensor_3
          // 12: aten.tanh.default
          {"self", kind::value, 29},  // dequantize_per_tensor_2
          {"", kind::value, 34},  // tanh
          // 13: davit.linear_packed.rows
          {"input", kind::value, 34},  // tanh
          {"weight", kind::value, 60},  // _packed_dequantize_per_channel_group_1_words
          {"scales", kind::value, 61},  // _packed_dequantize_per_channel_group_1_scales
          {"offsets", kind::value, 62},  // _packed_dequantize_per_channel_group_1_offsets
          {"bias", kind::value, 13},  // b_head_bias
          {"", kind::value, 36},  // linear_3
          // 14: aten.tanh.default
          {"self", kind::value, 36},  // linear_3
          {"", kind::value, 37},  // tanh_1
          // 15: davit.linear_packed.rows
          {"input", kind::value, 29},  // dequantize_per_tensor_2
          {"weight", kind::value, 63},  // _packed_dequantize_per_channel_group_2_words
          {"scales", kind::value, 64},  // _packed_dequantize_per_channel_group_2_scales
          {"offsets", kind::none, 0},
          {"bias", kind::value, 13},  // b_head_bias
          {"", kind::value, 39},  // linear_4
          // 16: aten.neg.default
          {"self", kind::value, 37},  // tanh_1
          {"", kind::value, 40},  // neg
          {"", kind::value, 37},  // tanh_1
          {"", kind::value, 40},  // neg
          // 17: aten.cat.default
          {"tensors", kind::list, 94, 2},
          {"dim", kind::int_, -1},
          {"", kind::value, 41},  // cat
          // 18: davit.linear_packed.rows
          {"input", kind::value, 41},  // cat
          {"weight", kind::value, 65},  // _packed_dequantize_per_channel_2_words
          {"scales", kind::value, 66},  // _packed_dequantize_per_channel_2_scales
          {"offsets", kind::none, 0},
          {"bias", kind::value, 16},  // b_last_bias
          {"", kind::value, 44},  // linear_5
      }},
      // operator, inputs (first, count), outputs (first, count)
      .nodes = {{
          {"quantized_decomposed.quantize_per_tensor.default", 0, 6, 6, 1},  // 0: quantize_per_tensor = quantized_decomposed.quantize_per_tensor.default(x)
          {"quantized_decomposed.dequantize_per_tensor.default", 7, 6, 13, 1},  // 1: dequantize_per_tensor = quantized_decomposed.dequantize_per_tensor.default(quantize_per_tensor)
          {"davit.linear_packed.rows", 14, 5, 19, 1},  // 2: linear = davit.linear_packed.rows(dequantize_per_tensor, _packed_dequantize_per_channel_words, _packed_dequantize_per_channel_scales, b_first_bias)
          {"aten.relu.default", 20, 1, 21, 1},  // 3: relu = aten.relu.default(linear)
          {"quantized_decomposed.quantize_per_tensor.default", 22, 6, 28, 1},  // 4: quantize_per_tensor_1 = quantized_decomposed.quantize_per_tensor.default(relu)
          {"quantized_decomposed.dequantize_per_tensor.default", 29, 6, 35, 1},  // 5: dequantize_per_tensor_1 = quantized_decomposed.dequantize_per_tensor.default(quantize_per_tensor_1)
          {"davit.linear_packed.rows", 36, 5, 41, 1},  // 6: linear_1 = davit.linear_packed.rows(dequantize_per_tensor_1, _packed_dequantize_per_channel_1_words, _packed_dequantize_per_channel_1_scales, b_second_bias)
          {"quantized_decomposed.quantize_per_tensor.default", 42, 6, 48, 1},  // 7: quantize_per_tensor_2 = quantized_decomposed.quantize_per_tensor.default(linear_1)
          {"quantized_decomposed.dequantize_per_tensor.default", 49, 6, 55, 1},  // 8: dequantize_per_tensor_2 = quantized_decomposed.dequantize_per_tensor.default(quantize_per_tensor_2)
          {"davit.linear_packed.rows", 56, 5, 61, 1},  // 9: linear_2 = davit.linear_packed.rows(dequantize_per_tensor_2, _packed_dequantize_per_channel_group_words, _packed_dequantize_per_channel_group_scales, b_third_bias)
          {"quantized_decomposed.quantize_per_tensor.default", 62, 6, 68, 1},  // 10: quantize_per_tensor_3 = quantized_decomposed.quantize_per_tensor.default(linear_2)
          {"quantized_decomposed.dequantize_per_tensor.default", 69, 6, 75, 1},  // 11: dequantize_per_tensor_3 = quantized_decomposed.dequantize_per_tensor.default(quantize_per_tensor_3)
          {"aten.tanh.default", 76, 1, 77, 1},  // 12: tanh = aten.tanh.default(dequantize_per_tensor_2)
          {"davit.linear_packed.rows", 78, 5, 83, 1},  // 13: linear_3 = davit.linear_packed.rows(tanh, _packed_dequantize_per_channel_group_1_words, _packed_dequantize_per_channel_group_1_scales, _packed_dequantize_per_channel_group_1_offsets, b_head_bias)
          {"aten.tanh.default", 84, 1, 85, 1},  // 14: tanh_1 = aten.tanh.default(linear_3)
          {"davit.linear_packed.rows", 86, 5, 91, 1},  // 15: linear_4 = davit.linear_packed.rows(dequantize_per_tensor_2, _packed_dequantize_per_channel_group_2_words, _packed_dequantize_per_channel_group_2_scales, b_head_bias)
          {"aten.neg.default", 92, 1, 93, 1},  // 16: neg = aten.neg.default(tanh_1)
          {"aten.cat.default", 96, 2, 98, 1},  // 17: cat = aten.cat.default(tanh_1, neg)
          {"davit.linear_packed.rows", 99, 5, 104, 1},  // 18: linear_5 = davit.linear_packed.rows(cat, _packed_dequantize_per_channel_2_words, _packed_dequantize_per_channel_2_scales, b_last_bias)
      }},
      .strings = {}};
  static const std::byte* weights() noexcept { return reinterpret_cast<const std::byte*>(packed_firmware_constants::weights); }
};
