"""The text of a reply as rules read it: one turn, plain characters, no markup, line by line."""

import re
import unicodedata
from collections.abc import Sequence

from evalui.types import LETTERS

CARDINALS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
NUMERALS = "一二三四五六七八九十"
FILLER = "\ufffc"  # stands for what is left out
FIRST_MENTION, LAST_MENTION = "\ue000", "\ue17f"  # stand for mentions of options, see `mentions`

_CIRCLED = re.compile("[①-⑳❶-❿➀-➓]")
_LETTER_SIGNS = re.compile("[🅐-🅩🅰-🆉]")
_KEYCAP = re.compile("([0-9])\ufe0f?\u20e3")
# Characters that stand for mentions of options must come from no reply.
_INVISIBLE = re.compile(f"[\u200b-\u200f\u2060\ufeff\ufe0e\ufe0f{FIRST_MENTION}-{LAST_MENTION}]")
_SIGN = re.compile(
    "[①-⑳❶-❿➀-➓🅐-🆉〔〕〖〗−İ\u0120\u0307\u200b-\u200f\u2060\u20e3\u2581\ufeff\ufe0e\ufe0f"
    f"{FIRST_MENTION}-{LAST_MENTION}]"
)
# How tokenizers write the blank before a word, brackets and minus signs of one kind, and the one
# letter whose small form is two characters, so that places hold in a line's small letters, too.
_PLAINER = str.maketrans("\u2581\u0120〖〗〔〕−İ", "  【】【】-I")

_EQUALS = re.compile(r"(?<=[\w)}]) {0,2}= {0,2}(?=[\w({\\+\-])")


def fold_width(text: str) -> str:
    """Full-width to half-width, circled numbers to numbers in brackets; nothing invisible.

    Characters that stand there as HTML entities are what they name; an equals sign stands apart.
    """
    if "=" in text:
        text = _EQUALS.sub(" = ", text)
    if "&" in text:
        from html import unescape  # its table of 2,000 names

        text = unescape(text)
    if text.isascii():
        return text
    if not _SIGN.search(text):  # most texts have none
        return unicodedata.normalize("NFKC", text)
    text = _CIRCLED.sub(lambda sign: f"({int(unicodedata.numeric(sign[0]))})", text)
    text = _KEYCAP.sub(r"(\1)", _LETTER_SIGNS.sub(_letter_of_sign, text))
    return _INVISIBLE.sub("", unicodedata.normalize("NFKC", text)).translate(_PLAINER)


def _letter_of_sign(sign: re.Match[str]) -> str:
    code = ord(sign[0])
    return LETTERS[code - (0x1F150 if code < 0x1F170 else 0x1F170)]


# Traditional characters of everyday words, and the simplified ones in the same order.
_TRADITIONAL = (
    "國學會來時說這個們為對後過還沒經發現點樣種機關開問題選項確錯誤應該論結認覺擇請讓從兩間門東車馬魚鳥龍風電話語讀書寫聽見觀視親計記許設評詞試詳調談識譯議護變豐負財"
    "責質費資賽贊贏趙較輕輪轉輸農遠運進連遺鄉鄭針鐘鋼錢鐵鎮長閃閉陽陰陳階際隊隨險難雲靜順頁頂領頭顏額願類飛飯館驗體黃齊齡與業專嚴並義樂習買亂爭虧亞產畝僅僕價億儀優傳"
    "傷倫偽侖倉償儲兒黨蘭興養獸內岡冊軍沖決況凍淨減湊幾鳳憑凱擊劃劉則剛創刪別劑劇勸辦務動勵勁勞勢勝區醫華協單賣盧衛卻廠廳曆歷壓厭縣參雙髮敘葉號嘆嗎吳員嗚詠響啟團園圍"
    "圖圓聖場塊堅壇壩墳墜聲殼處備復複夠夾奪奮獎婦媽孫寧寶實寵審憲宮寬賓導壽將爾塵嘗堯屍盡層屬歲豈島嶺峽幣帥師帳帶幫廣莊慶廬庫廟廢異棄張彌彎彈強歸當錄徑徹憶憂懷態總戀"
    "惡慣憤慮懶戲戰戶執擴掃揚擾撫搶報擔擬擁攔撥掛揮損換據擋採攝擺搖攤敵數斷無舊曠晝顯曉暫術樸殺雜權條楊極構標棧欄樹橋檢樓檔夢橫櫻歐殘毀畢氣氫漢湯溝滅淚澤潔淺濁測濟渾"
    "濃濤漲潤澀淵漸漁溫灣濕滿滾濾濱灘燈靈災爐煉煙煩燒熱愛爺牆狀猶獨獅獄獵獻環瑪畫療瘋癥盜蓋鹽監盤礦碼磚禮禍離稅穩窮竅豎競筆築簡籃糧緊糾紅約級紀純紙紋納線練組細織終紹"
    "綁絨給絡絕統絲續維綿綠緒緣編縮罷羅罰職聯聰膚腎脹腦腫膽臉臟艦艱藝節蘇蘋莖薦藥獲穫營蕭薩藍虛蟲雖蝕螞蠟補裝襲規覽觸譽訂討訓訊講諷訪證詐訴診詩誠誕課誰諸謝謎謂豬貓貝"
    "貞貨貪貧購貫貴貸貿賀賊賠賴賺躍踐蹤軌軟載輔輛輩輻邊達遷邁適遞邏鄰釋裏裡鑒釣鈉鈣鉀銀銅鉛鋁鋅錫鏡閱闊聞隱隸雞霧韓韻須預頓頻顆饑飲飼餅餓駐駕騎騙鬥鬧魯鮮鯨鴨鵝鷹麥麗"
    "麼龜"
)
_SIMPLIFIED = (
    "国学会来时说这个们为对后过还没经发现点样种机关开问题选项确错误应该论结认觉择请让从两间门东车马鱼鸟龙风电话语读书写听见观视亲计记许设评词试详调谈识译议护变丰负财"
    "责质费资赛赞赢赵较轻轮转输农远运进连遗乡郑针钟钢钱铁镇长闪闭阳阴陈阶际队随险难云静顺页顶领头颜额愿类飞饭馆验体黄齐龄与业专严并义乐习买乱争亏亚产亩仅仆价亿仪优传"
    "伤伦伪仑仓偿储儿党兰兴养兽内冈册军冲决况冻净减凑几凤凭凯击划刘则刚创删别剂剧劝办务动励劲劳势胜区医华协单卖卢卫却厂厅历历压厌县参双发叙叶号叹吗吴员呜咏响启团园围"
    "图圆圣场块坚坛坝坟坠声壳处备复复够夹夺奋奖妇妈孙宁宝实宠审宪宫宽宾导寿将尔尘尝尧尸尽层属岁岂岛岭峡币帅师帐带帮广庄庆庐库庙废异弃张弥弯弹强归当录径彻忆忧怀态总恋"
    "恶惯愤虑懒戏战户执扩扫扬扰抚抢报担拟拥拦拨挂挥损换据挡采摄摆摇摊敌数断无旧旷昼显晓暂术朴杀杂权条杨极构标栈栏树桥检楼档梦横樱欧残毁毕气氢汉汤沟灭泪泽洁浅浊测济浑"
    "浓涛涨润涩渊渐渔温湾湿满滚滤滨滩灯灵灾炉炼烟烦烧热爱爷墙状犹独狮狱猎献环玛画疗疯症盗盖盐监盘矿码砖礼祸离税稳穷窍竖竞笔筑简篮粮紧纠红约级纪纯纸纹纳线练组细织终绍"
    "绑绒给络绝统丝续维绵绿绪缘编缩罢罗罚职联聪肤肾胀脑肿胆脸脏舰艰艺节苏苹茎荐药获获营萧萨蓝虚虫虽蚀蚂蜡补装袭规览触誉订讨训讯讲讽访证诈诉诊诗诚诞课谁诸谢谜谓猪猫贝"
    "贞货贪贫购贯贵贷贸贺贼赔赖赚跃践踪轨软载辅辆辈辐边达迁迈适递逻邻释里里鉴钓钠钙钾银铜铅铝锌锡镜阅阔闻隐隶鸡雾韩韵须预顿频颗饥饮饲饼饿驻驾骑骗斗闹鲁鲜鲸鸭鹅鹰麦丽"
    "么龟"
)
_SIMPLER = str.maketrans(_TRADITIONAL, _SIMPLIFIED)
_MAY_VARY = re.compile(
    f"[\u00c0-\u00d6\u00d8-\u00f6\u00f8-\u024f\u0300-\u036f\u1e00-\u1eff{_TRADITIONAL}]"
)
_ARTICLE = re.compile(r"(?i:the|an?) ")


def without_variants(text: str) -> str:
    """Without accents, in simplified characters: "Garcia" for "García", 重庆 for 重慶."""
    if not _MAY_VARY.search(text):
        return text
    letters = unicodedata.normalize("NFD", text)
    plain = "".join(letter for letter in letters if not unicodedata.combining(letter))
    return unicodedata.normalize("NFC", plain).translate(_SIMPLER)


def without_article(text: str) -> str:
    """The text without an English article at its beginning."""
    match = _ARTICLE.match(text)
    return text[match.end() :] if match else text


# ---------------------------------------------------------------- what belongs to the reply

_LONGEST_READ = 60_000  # characters


def shortened(text: str) -> str:
    """Of a text that no model writes the beginning and the end, so that it is read in no time."""
    if len(text) <= _LONGEST_READ:
        return text
    third = _LONGEST_READ // 3
    return f"{text[:third]}\n{FILLER}\n{text[-2 * third :]}"


# One that a text speaks of stands in quotes.
_TURN_MARK = re.compile(
    r"(?<![`'\"“‘「])(?:</s>|<eos>|<end_of_turn>|\[/?INST\]|"
    r"<[|｜](?:im_end|im_start|eot_id|eom_id|endoftext|end|end_of_text|start_header_id|"
    r"end.of.sentence|END_OF_TURN_TOKEN|user|assistant|system|User|Assistant)[|｜]>)"
)
# "<eoa>" and what else a model was trained to write at an end, or in any place between bars;
# "<B>" and "<AC>" are labels.
_MARK_TAG = re.compile(
    r"</?(?![A-Z]{1,3}>)(?P<name>\|[\w.-]{1,30}\||"
    r"\w[\w.-]{0,30}(?=/?>(?:</?[\w|.-]{1,31}/?>|[ \t]){0,9}$))/?>",
    re.MULTILINE,
)
_NEXT_QUESTION = re.compile(
    r"\n(?i:[ \t#*]*(?:(?:next )?question|q|problem|exercise|example|instruction|prompt|passage|"
    r"quiz|"
    r"user|human|student|问题|题目|问|下一题|例题|试题|练习题?|[单多]选题|选择题|判断题|追问|提问|用户|学生)"
    r"[ \t]*\d*[*\s]*[:.、)]|"
    r"[ \t#*]*(?:(?:question|problem|exercise|example)[ \t]*#?\d+\b|例 ?\d+|第 ?\d+ ?题)|"
    r"[ \t#*]*【(?:题目|问题|例题?\d*|试题|练习)】|"
    r"[ \t]*###? *(?:instruction|question|input|user|human|problem)\b)"
)
_QUESTIONS_FOLLOW = re.compile(r"\n(?=[^\n]*multiple[ -]choice questions)")
# A list of options that begins anew, on lines or in one line.
_LIST_BEGINS = re.compile(
    r"(?<=[\n ])[(\[（]?A[.)、:）\]](?P<first>[^\n]{1,80}?)[\s;,]+[(\[（]?B[.)、:）\]]"
)
_ASKS = re.compile(r"[?:_)）][ \t]*$|\?|\bfollowing\b|下列|以下哪")


def own_turn(text: str) -> str:
    """What the model said before it went on with turns of its own making."""
    if "<" not in text and "[" not in text:
        return text.strip()
    begin = 0
    for mark in _TURN_MARK.finditer(text):
        if mark[0] == "</s>" and "<s>" in text:
            continue  # HTML: what is between them is struck out
        if turn := text[begin : mark.start()].strip():
            return turn
        begin = mark.end()
    return text[begin:].strip()


def without_unknown_tags(text: str, options: Sequence[str]) -> str:
    """The text without a tag that ends a line: it is the model's own mark, unless an option holds
    its name.
    """
    if "<" not in text:
        return text

    def kept(tag: re.Match[str]) -> str:
        is_content = any(tag["name"].casefold() in option.casefold() for option in options)
        return tag[0] if is_content or _ANSWER_TAG.fullmatch(tag[0]) else ""

    return _MARK_TAG.sub(kept, text).strip()


def before_next_question(text: str) -> str:
    """The text up to a question that a base model asks itself, under a head that says so."""
    if "\n" not in text:
        return text
    if match := _NEXT_QUESTION.search(text):
        text = text[: match.start()].rstrip()
    if "choice questions" in text and (match := _QUESTIONS_FOLLOW.search(text)):
        text = text[: match.start()].rstrip()
    return text


def before_other_options(text: str, options: Sequence[str]) -> str:
    """The text up to a list of other options, and up to the question that stands above it.

    Who goes through the options in words of his own lists them as well: a question follows only
    where an answer stands before it.
    """
    for begins in _LIST_BEGINS.finditer(text):
        first = begins["first"].casefold()
        if any(option.strip().casefold() in first for option in options):
            continue
        above = text[: begins.start()].rstrip()
        start = above.rfind("\n") + 1
        if (start or _NEXT_QUESTION.match(f"\n{above}")) and _ASKS.search(above, start):
            return above[:start].rstrip()
    return text


# ---------------------------------------------------------------- markup

_BOLD_ITEM = re.compile(
    r"^(?P<bullet>[ \t]*(?:[-+•>] )?)(?P<bold>\*\*|__|==|<(?:b|strong|mark|u)>)"
    r"(?=[(\[]?[A-Z][).:、\]])",
    re.MULTILINE,
)
_PLAIN_ITEM = re.compile(r"^[ \t]*(?:[-+•>] )?[(\[]?[A-Z][).:、\]]", re.MULTILINE)
_STRUCK_OUT = re.compile(r"~~[^~\n]{1,300}~~")
_HTML_TAG = re.compile(
    r"</?(?:p|b|i|u|s|strong|em|div|span|br|li|ul|ol|h[1-6]|td|tr|th|table|tbody|thead|pre|code|"
    r"font|center|mark|small|sub|sup|section|body|html)\b[^<>\n]{0,100}>"
)
_ANSWER_TAG = re.compile(
    r"<(/?)(?:(?:final_)?(?:answer|ans|choice|response|output|result|solution|final)|"
    r"(?:最终)?(?:答案|回答))>",
    re.IGNORECASE,
)
_BOX = re.compile(r"\\(?:boxed|fbox|framebox)\b")
_LATEX = re.compile(
    r"\\(?:(?:text|math)?(?:bf|rm|sf|it|tt|normal)?\s?\{|text\w*\{|[,;!() \[\]]|quad\b)"
)
_EMPHASIS = re.compile(r"(?<![\w*])\*([^*\n]{1,300})\*(?![\w*])|(?<!\w)_([^_\n]{1,300})_(?!\w)")


def without_markup(text: str) -> str:
    """Without Markdown, HTML and LaTeX; a box or a tag for the answer becomes "answer:"."""
    if "\n" in text and len(_BOLD_ITEM.findall(text)) == 1 and len(_PLAIN_ITEM.findall(text)) > 1:
        text = _BOLD_ITEM.sub(r"\g<bullet>✓ ", text)  # of several options one stands out
    if "~~" in text:
        text = _STRUCK_OUT.sub("", text)
    if "<" in text:
        text = _ANSWER_TAG.sub(
            lambda tag: "\n" if tag[1] else "\nanswer: ", _HTML_TAG.sub("", text)
        )
    if "\\" in text:
        text = _LATEX.sub("", _BOX.sub(" answer: ", text))
    return without_emphasis(text)


def without_emphasis(text: str) -> str:
    """Without Markdown's signs around words."""
    for sign in ("**", "__", "`"):
        if sign in text:
            text = text.replace(sign, "")
    return _EMPHASIS.sub(r"\1\2", text) if "*" in text or "_" in text else text


# ---------------------------------------------------------------- lines

# A line that announces what the next one says: "Answer:", 【答案】, "### Final answer".
_HEADING = re.compile(
    r"[\W_]*(?:[^\n?]{0,80}[:]|【[^】\n]{1,10}】|"
    r"(?:(?:the|my|final|correct|best) ){0,3}(?:answer|choice|response|conclusion|solution)|"
    r"(?:最终|正确|参考)?答案|结论)[\s*]*",
    re.IGNORECASE,
)


_ITEM = re.compile(r"[\W_]*([A-Za-z])\s?[.):、]")


def lines(text: str) -> list[str]:
    """The lines that are not blank, single blanks between words, headings before what they head.

    A heading stays apart where a list of options follows it.
    """
    each = [line for raw in text.split("\n") if (line := " ".join(raw.split())).strip(" -—_*#>=")]
    joined = list[str]()
    heading = ""
    for index, line in enumerate(each):
        if index + 1 < len(each) and _HEADING.fullmatch(line) and not _is_list(each[index + 1 :]):
            heading += f"{line} "
        else:
            joined.append(heading + line)
            heading = ""
    return joined


def _is_list(following: list[str]) -> bool:
    """Whether the next two lines begin with different letters, as the options do."""
    labels = [match[1] for line in following[:2] if (match := _ITEM.match(line))]
    return len(labels) == 2 and labels[0] != labels[1]
