"""How sentences speak of options: words that lead to a mention or follow it, and what turns them.

A lead is what stands before a mention, to its end; a tail is what stands behind. Sentences come
marked (`options`) and in lower case. Every repetition is bounded or over one class, so long
replies stay cheap. First the languages, then negation, conditions and second thoughts in all.
"""

import re
from dataclasses import dataclass
from functools import cache

from evalui.replies.mentions import MENTION, either

# ---------------------------------------------------------------- mentions together

OPENS_QUOTE = r"[\"'“‘「『(\[]{0,2}"
CLOSES_QUOTE = r"[\"'”’“‘」』)\]]{0,2}"
AND_EN = either("""
    and/or | as well as | and | or(?: else)? | nor | also | plus | along with | together with
    besides | in addition to | followed by | then | alternatively | respectively | additionally
    versus | vs | [as][so] (?:is|are) | both(?: of)?
""")
AND_ZH = either(
    "和 | 与 | 及 | 或者? | 还是选? | 以及 | 跟 | 还有 | 也有 | 加上? | 又 | 且 | 并且? | 同时",
    "另外 | 其次是? | 次选 | 再",
)
_AND_OTHERS = either(
    r"(?<!\w)(?:[eyou]|ou|et|und|oder|noch|ni|nem|né|i|oraz|lub|albo|ve|veya|ya da|"
    r"и|или|و|أو|اور|یا|"
    r"और|या|và|hoặc|dan|atau)(?!\w)",
    "和 | 또는 | 혹은 | 와 | 과 | か | と | または | และ | หรือ",
)
# Between mentions that belong together; a sign alone joins only what nothing is said of apart.
_NEXT = r"(?:the |both |option |choice |选项)?"
_AND = either(
    rf"{CLOSES_QUOTE}(?:选?项)?[\s,;.…(/]{{0,5}}(?:\b{AND_EN}\b[\s,./…(]{{0,5}}){{1,3}}"
    rf"(?:(?:maybe|perhaps|possibly|probably|even) )?{_NEXT}{OPENS_QUOTE}",
    rf"{CLOSES_QUOTE}(?:选?项)?[\s,;.…(]{{0,5}}{AND_ZH}{{1,2}}(?:也|也许是?|可能是?)?\s?{_NEXT}{OPENS_QUOTE}",
    rf"{CLOSES_QUOTE}\s?{_AND_OTHERS}\s?(?:(?:la|el|le|die|l') ?)?{OPENS_QUOTE}",
    rf"{CLOSES_QUOTE}(?:选?项)?\s?(?:[、/&+|·]|\.(?!\s))\s?{_NEXT}{OPENS_QUOTE}",
    rf"(?:选?项)?[)\]]?\s?{_NEXT}",
    r"[)\]]\s?[(\[]",
)
_BESIDE = rf"(?:选?项)?{CLOSES_QUOTE}\s?(?:[,→>=\-–—]+|\.{{2,}}|…+)\s?{_NEXT}{OPENS_QUOTE}"
# After a comma a mention belongs to the list only if no statement follows it: "A, B is wrong".
_GOES_ON = (
    r"(?=[)\]\"']?\s?(?:$|[,.。、;!?)\]】}\"]|和|与|及|或|都|均|皆|全|"
    r"(?:and|or|are|were|can|all|do|did|wrong|incorrect|false|out|und|oder|y|et|ou)\b))"
)
GROUP = re.compile(rf"{MENTION}(?:{_AND}{MENTION}|{_BESIDE}{MENTION}{_GOES_ON})*")

# ---------------------------------------------------------------- leads in English

_FILLER = either(r"""
    most | more | very | quite | probably | likely | clearly | definitely | therefore | thus
    hence | obviously | certainly | indeed | simply | just | actually | then | also | still
    perhaps | maybe | possibly | arguably | surely | undoubtedly | only | again | now | here
    best | either | both | exactly | about | roughly | precisely | approximately
    that | the | a | an | my | is | it's | it is | answer | option | choice | letter | statement
    marked | called | under | with | in fact | of course | for sure | as follows | given by
    represented by | labell?ed | described (?:in|by) | stated in | listed (?:as|under)
    found (?:in|under) | has to be | to be
""")
_FILL = rf"(?:[ ,:\"'(*]+{_FILLER}(?![a-z])){{0,12}}"
_BE = either("""
    (?:would|should|must|ha[sv]e? to|will|can only|ought to|got to|to) be
    (?:seems? to|appears? to|looks to|turns out to) be
    is | was | are | 's | equals | remains | becomes | (?:mak|giv|yield)(?:es|s|ing)
""")
_CHOSEN_ONE = either("""
    option | choice | one | statement | selection | alternative | letter | pick | match | fit
    completion | description | term | word | interpretation | conclusion | candidate | out
""")
_CALLED = either(r"""
    correct | right | best | most \w+ | appropriate | suitable | accurate | proper | logical
    closest | only | better | chosen | selected | final | valid | true | likely | odd | tentative
""")
ANSWER_EN = either(
    "answers? | ans | solution | response | verdict | decision | exception",
    rf"""
    {_CALLED} (?!wrong|incorrect|false)(?:\w+ )?{_CHOSEN_ONE}s?
    my (?:\w+ )?(?:choice|pick|guess|bet|vote|selection|preference|money|intuition|hunch|instinct)
    """,
)
_CHOOSE = either("""
    choose | pick | select | go (?:with|for) | opt for | vote for | settle (?:on|for) | mark
    tick
    circle | put(?: down)? | get | stick with | stay with | prefer | answer
    lean(?: towards?| to)?
    bet(?: on)? | guess | write | enter | submit | say | put my money on | wager | respond with
    reply | conclude | take | fill in | (?:going|gone) (?:with|for) | gonna (?:go with|say)
    choosing | picking | selecting | opting for | voting for | settling on | sticking with
    leaning(?: towards?| to)? | betting on | answering
""")
_WHO = either(
    r"\b(?:i|we|you|student|i'd|i'll|i'm|i am|we'd|we'll|let's|let us|let me|would|will|shall|"
    r"should|must|can|could|to|gonna|please|therefore|so|thus|hence|and|then|just|ha[vd]e? to)"
    r"[ ,]{1,2}(?:\w+ly |still |rather |now |then |have to ){0,2}",
    r"^\W* | [,;:–—] ?",
)
_BEHIND_ANSWER = (
    r"(?:[ ,]+(?:to|for|here|of|in|that|which|i|on|among|from|would|you|we|,)\b[^.;!?]{0,60}?)?"
)
_ANNOUNCED_EN = either(
    rf"(?<![a-z]){ANSWER_EN}{_BEHIND_ANSWER}[ ,]?{_BE}{_FILL}",
    rf"(?<![a-z]){ANSWER_EN}[\"'”’)\]】|>]*\s?[:=\-–—─>→⇒~|]+{_FILL}",
    r"(?:^\W*|[,;:.>] ?|\b(?:the|my|final|correct|right|best|so|an|and|to) )(?:answers?|ans)",
    rf"{_WHO}{_CHOOSE}{_FILL}",
    rf"\b(?:i|we|i've) (?:\w+ly )?(?:chose|picked|selected|went with|chosen){_FILL}",
)
_THINK = (
    r"(?:i|we)(?:'d|'m|'ll| would| am| do| now| still| also| must| can only)?(?: \w+ly)? "
    r"(?:have to )?(?:think|believe|suppose|suspect|reckon|feel|assume|presume|say|guess|conclude|"
    r"imagine|expect|argue|favou?r|prefer|tend (?:towards?|to)|lean(?: towards?| to)?)"
    r"(?: that| like)?(?: (?:it's|it is|it (?:would|must|could|might|should) be))?"
)
_EVIDENCE = either(
    "this | that | it | which | evidence | passage | text | author | data | everything",
    "definition | description",
)
_CONCLUDING = either(
    _THINK,
    rf"""
    therefore | thus | hence | consequently | accordingly | so(?! (?:is|are|do|does|was)\b) | ergo
    it is | it's | that's | that would be | i mean | leaves(?: us)? | leaving(?: us)? | left with
    goes to | answer to | leads?(?: us)? to | brings? us to | arrive at | c[oa]mes? to
    end up with
    land(?:ed)? on | decided? (?:on|for) | went for | stand by | points? to | pointing to
    (?:summari[sz]ed|captured|expressed) (?:by|in) | corresponds? to | corresponding to
    match(?:es|ing)? | agrees? with | speaks? for | elimination
    {_EVIDENCE} (?:\w+ )?(?:means|supports?|describes|indicates?|suggests?|favou?rs)
    (?:gut|instinct|intuition) (?:says|tells me) | (?:looks|seems|sounds|feels) like(?: it's)?
    (?:inclined|drawn|leaning) (?:towards?|to) | money (?:is )?on | money's on | wager | prob
    prolly
    idk | dunno | imo | imho | afaik | iirc | tbh | in fact | return | print | sure
    all likelihood
    \d+ ?% (?:on|for|in|sure(?: (?:of|about|it's))?) | confident in | likely | must be | should be
    has to be | would be | can only be | ^\W*only | guess | which is | which makes it | namely
    i\.e\.?
    """,
)
_NO_ADVERB = "(?!not|only|family|supply|reply|apply|july|italy|fly|ally|rely)"
_CONCLUDED_EN = either(
    rf"\b{_CONCLUDING}{_FILL}",
    rf"(?:^\W*|\bbut |[,;:] ?)(?:\w+ )?{_NO_ADVERB}\w{{3,}}ly",
)
_POSSIBLE_EN = (
    r"\b(?:maybe|perhaps|possibly|"
    rf"(?:could|might|may|can) (?:also |well |equally |very well |just as well )?be){_FILL}"
)
_COPULA_EN = rf"(?:\b{_BE}|\b(?:called|named|known as|termed)|=){_FILL}"
_CORRECTED_EN = (
    r"\b(?:wait|no|actually|sorry|correction|i mean|i meant|rather|make that|scratch that|oops|"
    r"nope|hmm+|edit|update|on second thought)"
    r"(?:[ ,.:;!…\-–—]+(?:no|wait|it's|it is|it should be|i mean|i meant|make that|sorry|rather|"
    rf"actually)(?![a-z])){{0,3}}[ ,.:;!…\-–—]*{_FILL}"
)
_DENIED_EN = either(
    r"(?:\b(?:not|never|cannot)|n't)(?: (?:be|been|to be|the|an?|necessarily|really|actually|"
    r"simply|just|also|even|quite|either|choose|pick|select|go with|answer(?: is)?|"
    r"correct(?: answer)?|about|it|likely|in|from|option|choice|consider)(?![a-z]))*",
    r"\b"
    + either("""
    neither | nor | rather than | instead of | other than | except(?: for)? | excluding
    eliminat(?:e|es|ed|ing) | rul(?:e|es|ed|ing) out | reject(?:s|ed|ing)? | discard(?:s|ed|ing)?
    cross(?:ed|ing)? (?:out|off) | exclud(?:e|es|ed|ing) | dismiss(?:ed|ing)? | all but
    as opposed to
    (?:any|every)thing but | unlike | contrary to | fooled by | over | avoid(?:s|ing)? | beware of
    ignor(?:e|ing) | skip | drop | strike (?:out|off) | forget | remove | delete | leave out
    throw out | far from | (?:wrong|incorrect) (?:answers?|options?|choices?|ones?)(?: is| are|:)?
    """)
    + "(?: (?:the|options?|choices?|both|answers?))*",
    r"^\W*(?:wrong|incorrect)",
)
_CONTRAST_EN = (
    r"^\W*(?:but|but rather|rather|instead|it's|it is)"
    r"(?:\W+(?:it's|it is|rather|that|the|is|answer))*"
)

# What leads to a mention as the point of a sentence, for texts in which mentions are looked for.
COPULA_TO_MENTION = (
    rf"(?:\b(?<!\bso )(?:is|was|are|were)|'s|=|(?<![不非])是|为){_FILL} ?{CLOSES_QUOTE}"
)

# ---------------------------------------------------------------- leads in Chinese

_ANSWER_ZH = either("""
    答案 | 正确的?(?:选项|说法|描述|表述|一项|判断|理解|叙述|选择) | 正确的?(?:是|为)
    最佳(?:选项|选择)
    (?:错误|题意|恰当|合适|准确|不当|符合|合理|适当|要求|相符|一致|有误|正确)的?(?:选项|一项|一个|说法)?(?:是|为)
    答曰
""")
HEAD_ZH = either("本题 | 此题 | 这道?题 | 简答 | 答 | 结论 | 结果 | 回答 | 选择 | 选项 | 解答")
_FILL_ZH = (
    r"(?:[ :=\-–—─>→⇒|】」\])\"'”<]|是|为|选择?|应该?|应当|可能|大概|也许|或许|一定|必然|就|显然|"
    r"选项|只能|只有|即|确实|确定|我|认为|觉得|会|填|的|还是|最终|最后|故|所以|因此|当然|无疑|肯定|"
    r"必须|仍然?|也|改成|改为|更正|定|倾向于?|那个|这个){0,12}"
)
_ANNOUNCED_ZH = either(
    _ANSWER_ZH + _FILL_ZH,
    rf"{HEAD_ZH}{_FILL_ZH}(?:是|为|选|填|:){_FILL_ZH}",
    "(?<![不没别勿误候错漏未])(?:选择|选(?!项)|选取|挑选?|勾选?|填写?|圈|答|选定|锁定|猜|投)"
    "(?:的?是|为|了|的|就|:){0,2}(?:选项)?",
)
_CONCLUDED_ZH = (
    either("""
    认为 | 觉得 | 猜测? | 我想 | 感觉 | 估计 | 推测 | 相信 | 倾向于? | 支持 | 应该?(?:是|为)?
    应当是 | 就是
    即为? | 对应的?(?:是|选项)? | 得到? | 得出 | 推出 | 只有 | 就?只?剩下?了?的?(?:只有|就是|是)?
    不如
    偏向?于? | 暂定 | 更像 | 剩余 | 说不准 | 就 | 八九不离十是? | 故 | 所以 | 因此 | 因而 | 可知
    可见 | 显然
    综上(?:所述)? | 于是 | 从而 | 大概(?:率)?是? | 八成是? | 多半是? | 肯定是? | 一定是? | 必然是?
    那么
    那就 | 则 | 而是 | 还是 | 乃 | 正是 | 无疑是 | 最终 | 最后 | 定为 | 判断为 | 属于 | 也就是
    便是 | 符合 | [更最]可能
    """)
    + "(?:是|为|选项?|的|应该?|就|[,: ])*"
)
_POSSIBLE_ZH = (
    "(?:(?:也许|或许|(?<![更最])可能|好像|似乎|会不会)也?(?:是|为|选)?|也?可以(?:是|为|选))"
)
_COPULA_ZH = "(?:是|为|叫做?|称为|称作|填|=)了?"
_CORRECTED_ZH = (
    either(
        r"不对 | ^\W*不 | 哦不 | 不不 | 等等 | 等一下 | 更正 | 改为 | 改成 | 纠正 | 抱歉 | 对不起",
        "打错了 | 说错了 | 我错了 | 其实 | 实际上 | 准确地?说",
    )
    + "[^。;]{0,16}?(?:应该?)?(?:是|选|为)?"
)
_DENIED_ZH = (
    either("""
    (?<!得)不(?:是|选|应选?|该选?|能选?|能是|会选?|会是|可能是?|可选|要选|属于|认为|包括) | 并非
    而非
    排除了? | 除去 | 除了? | 剔除 | 去掉 | 淘汰 | 否定 | 别选 | 而不 | 误选 | 错选 | 漏选 | 划掉
    不同于
    区别于 | 错在
    """)
    + "(?:的?(?:是|有|选项)|掉|了|选|:){0,2}"
)
_CONTRAST_ZH = r"^[\W]*(?:而是|而|应该?(?:是|选|为)?|是|选|才是|只能是?选?|只剩下?|剩下?)(?:是|选)?"

# ---------------------------------------------------------------- tails in English

_MARKS_END = r"$|[.。,;:!?…)\]】}]|[-–—─]|\("
_TEXT_MARKS_END = r"$|[.。,;:!?…]|[-–—─]\s|\("
_ENDS_EN = (
    rf"{_MARKS_END}|(?:because|since|as|for|due|which|so|based|given|but|here|over|by|with|and|"
    r"instead|from|on|then|than|anyway|myself|personally|again|obviously|clearly|probably|though|"
    r"rather|it is|without|in my|to me|maybe|perhaps|most)\b"
)
_TEXT_ENDS_EN = (
    rf"{_TEXT_MARKS_END}|(?:because|since|which|based|but|due|although|though|here|rather|"
    r"as (?:the|it|this))\b"
)
_IS = (
    r"(?:is|was|would be|must be|should be|seems|looks|appears|sounds|has to be|will be|becomes|"
    r"are|proves)(?: to be)? "
)
_NOT_WORST = r"(?!(?:\w+ )?(?:wrong|incorrect|false|least|worst|weakest|poorest|odd|bad)\b)"
_NOT_THAT = (
    r"(?! (?:that|which|i|to|we)\b[^,;.]{0,30}"
    r"(?:n't|\bnot\b|exclud|reject|eliminat|avoid|wrong|incorrect))"
)
_ANNOUNCED_TAIL_EN = either(
    rf"{_IS}(?:\w+ly |indeed |also |then )?(?:the|my|our|your) {_NOT_WORST}(?:\w+ ){{0,2}}?"
    rf"(?:answer|choice|option|pick|guess|one|match|fit|selection|bet)\b{_NOT_THAT}",
    rf"{_IS}the (?:\w+ ){{0,2}}(?:meant|wanted|sought|described|in question|asked (?:for|about))\b",
    either(r"""
    it (?:is|must be|has to be) | (?:is|must be) it | (?:gets|has) my vote
    is (?:what|where) (?:i|the (?:text|passage|author)) | is the way to go | is spot on
    hits the mark | answers the question | strikes me as (?:right|correct|best)
    (?:\()?final answer
    (?:looks|seems|sounds) like the (?:\w+ )?(?:answer|choice|option|fit) | ,? ?for sure
    as (?:the|my) (?:\w+ )?answer
    """)
    + r"\b",
)
_RIGHT = either(r"""
    right | correct | best | true | accurate | appropriate | likely | valid | suitable | plausible
    reasonable | better | likelier | superior | preferable | supported | proper | fitting
    closest
    nearest | consistent | only (?:\w+ )?possib\w+
""")
_NOT_ONLY_IF = r"(?! (?:if|only|when|for(?! the same)|in|of|about|as far|up to|to (?:a|some))\b)"
_AFFIRMED_TAIL_EN = either(
    rf"{_IS}(?:(?!only |partly |partially |hardly |barely |nearly )\w+ly |indeed |also |the |more |"
    rf"most |both |all |therefore |thus ){{0,4}}{_RIGHT}\b{_NOT_ONLY_IF}",
    r"comes closest\b",
    r"(?:also |equally )?"
    + either(r"""
    would fit | follows | agrees with | (?:captures|describes|explains|fits) (?:it|this) best
    is in line with | fits | works | holds | applies | makes (?:\w+ ){0,3}sense
    best (?:matches|describes|explains) | wins | stands out | remains | is left
    (?:matches|satisfies) (?:the|this|all|every|best|perfectly) | (?:matches|qualifies)(?=\W*$)
    """)
    + r"\b",
    r"(?:✓|✔|✅|☑|√|←|⬅|👈|<-+|<=+|<<+|\*$|\((?:this one|correct(?: answer)?|right|selected|chosen|"
    r"(?:the |my )?(?:answer|choice|pick)|正确(?:答案)?|答案|选这个|选择)\))",
    r"[:|\-–—.、,(]+ ?(?:✓|✔|✅|☑|√|←|⬅|👈|(?:true|correct|yes|right|t)\b)",
)
_DENIED_TAIL_EN = either(
    r"(?:(?:both|all|also|clearly|obviously|definitely|therefore|thus|just|simply|either|each|can|"
    r"could|be|is|are|was|were|does|do|did|would|must|should|may|may be|seems?|looks?|too|they|"
    r"which|'s|, which) ){0,5}"
    + either(r"""
    (?:not|never|cannot)\b | too \w | wrong | incorrect | false | out\b | impossible
    irrelevant | unlikely | excluded | ruled out | eliminated | invalid | unrelated | untrue
    inaccurate | implausible | rejected | (?:fails?|contradicts?|lacks?|back)\b
    (?:is|are|was|were|do|does|did|ca|could|would|wo|has|should|must)n't\b
    """),
    r"(?:would be|is|was) (?:a |an )?"
    r"(?:mistake|error|trap|distractor|trick|tempting|red herring)\b",
    r"[:|\-–—.、,( ]*(?:✗|✘|❌|☒|×|✖)",
    r"[.:|\-–—(]+ ?(?:wrong|incorrect|false|untrue|(?:no(?! (?:doubt|question|other|one))|"
    r"not(?! (?:sure|certain|entirely|100|fully))|f)\b)",
)

# ---------------------------------------------------------------- tails in Chinese

_ENDS_ZH = (
    rf"{_MARKS_END}|因为|由于|吧|了|呢|啊|呀|哦|啦|呗|嘛|哈|选?项|这|是因为|的|无疑|最|而|来|正确|"
    "符合|对"
)
_TEXT_ENDS_ZH = rf"{_TEXT_MARKS_END}|因为|由于|吧|了(?=[,.。])|呢|啊|的[.。,]?$|这|选?项"
_ANNOUNCED_TAIL_ZH = (
    "(?:选?项)?(?:才|就|便|即)?(?:是|为)(?:本题)?的?(?:正确|最佳|最终|标准|我的|唯一|参考)?的?"
    "(?:答案|选项|选择)|莫属|当选"
)
_OF_OPTION = (
    "(?:选?项)?[ :.、(]{0,2}"
    "(?:[两三四]个?(?:选?项|者)|的|中|说法|描述|表述|叙述|观点|内容|这一?项|[ ]){0,3}"
)
_AFFIRMED_TAIL_ZH = either(
    rf"{_OF_OPTION}(?:才|就|也|亦|同样|都|均|则|确实|完全|最|更|比较|较为?|相对|一个|显然|应该?|[是为:])*"
    + either("""
    可选 | 正确(?!与否|性|的话|的?前提|吗|答案) | 对(?=的(?!话)|$|[,.。;!)了]) | 符合 | 准确
    合适 | 恰当 | 成立
    没错 | 合题意 | 行(?=$|[,.。;]) | 可以(?=$|[,.。;]) | 是(?=$|[,.。;]) | 没(?:有)?(?:问题|错误)
    [更最较]好 | 比较好 | 合理 | 贴切 | 接近 | 说得对 | 所述正确 | 更像 | 略胜 | √
    (?:[更最较]|比较)(?:有|为)?(?:可能|合理) | (?:可能性|概率|几率)(?:最|更|较)?[大高]
    """),
    "(?:选?项)?[,(] ?(?:正确|对(?=[,.。;)]|$)|√)",
    "选?项[^,.。;:不没非错误]{1,12}是(?:唯一|最)?(?:正确|对|符合)的?(?=$|[,.。;!])",
)
_DENIED_TAIL_ZH = either(
    rf"{_OF_OPTION}(?:也|都|均|则|却|就|会|便|可能|明显|显然|完全|可以|可|应该?|需要?|被|太|过于|[是为]){{0,4}}"
    + either("""
    错 | 有误 | 并非 | 排除 | 不(?!仅|但|过|一定|止|难|只|如|太?确定|敢|知) | 未 | 无关 | 淘汰
    除外
    """),
    "(?:选?项)?[,(] ?(?:都|均|也)?(?:错|不正确|不对|不符|不成立|不是|排除)",
)

# ---------------------------------------------------------------- other languages

# By language: Spanish, French, German, Portuguese, Italian, Polish, Turkish, Vietnamese,
# Indonesian, Russian, Arabic, Urdu, Hindi; then, written without blanks, Thai, Korean, Japanese.
_ANSWER_WORDS = either(r"""
    respuesta | solución | réponse | antwort | lösung | resposta | solução | gabarito | risposta
    soluzione | odpowied[źz]\w* | rozwiązani\w*
""")
_NAMING_WORDS = either(r"""
    ceva[pb]\w* | yanıt\w* | đáp án(?: đúng)? | câu trả lời(?: đúng)?
    jawaban(?:nya)? | [وف]?(?:ال)?[إا]جابة(?: الصحيحة)?
    [وف]?(?:ال)?جواب | ответ\w* | відповід\w* | پاسخ | उत्तर | जवाब
""")
OPTION_OTHERS = either(r"""
    opción | alternativa | letra | inciso | option | proposition | lettre | choix | aussage
    buchstabe | opção | opzione | lettera | opcj[aęąi] | wariant\w* | liter[aęąy]
    seçene[kğ]\w* | şık\w*
    lựa chọn | phương án | pilihan | opsi | вариант\w* | букв[аыу] | пункт\w* | الخيار | الحرف
    الاختيار | آپشن | گزینہ | विकल्प
""")
_RIGHT_WORDS = either(r"""
    correc?t[ao]s? | correcte?s? | verdader[ao] | exacte? | juste | bonne? | vraie? | richtig\w*
    korrekt\w* | zutreffend\w* | cert[ao] | giust[ao] | corrett[ao] | poprawn\w*
    prawidłow\w* | właściw\w* | doğru\w* | đúng | chính xác | benar | tepat | правильн\w*
    верн?\w{0,3} | الصحيح\w* | صحيح\w* | صحیح | درست | सही
""")
_WRONG_WORDS = either(r"""
    incorrec?t[aoe]s? | fals[aoe]s? | falsch\w* | fausse | faux | errad[ao]s? | sbagliat[ao]
    błędn\w* | nieprawidłow\w* | niepoprawn\w* | yanlış\w* | sai | salah | невер\w*
    неправил\w* | خاطئ\w* | خطأ | غلط | गलत
""")
_NOT_WORDS = either(r"""
    no | nicht | weder | né | ni | nem | ani | keine? | n'est | ne | pas | não | non | nie
    değil\w* | không | bukan | tidak | не | ليس\w* | غير | نہیں | नहीं
""")
_BE_WORDS = either(r"""
    es | sería | está | est | serait | ist | lautet | wäre | é | seria | è | jest | to | là | adalah
    это | является | هي | هو | ہے | है
""")
_LINK_WORDS = either(r"""
    la | el | le | lo | l' | die | der | das | o | a | il | un[ae]? | eine? | que | qui | donc
    also | somit | daher | pois | logo | quindi | número | nummer
""")
_CHOOSE_WORDS = either(r"""
    elijo | escojo | selecciono | marco | opto por | choisis | retiens | wähle | nehme | escolho
    seleciono | marcaria | scelgo | wybieram | zaznaczam | chọn | pilih | выбираю | أختار
""")
_SO_WORDS = either(r"""
    por (?:lo )?tanto | por eso | así que | donc | c'est | il s'agit (?:donc )?(?:de |d')?
    par conséquent | ainsi | also | somit | daher | folglich | demnach | portanto | logo | assim
    quindi | pertanto | zatem | dlatego | więc | vậy | jadi | значит | поэтому | следовательно
    таким образом | لذلك | إذن | لہذا | इसलिए | अतः
""")
_ANSWER_TIGHT = "(?:คำตอบ|ตอบ|정답|답안?|正解|正答|答え|解答|回答)"
_OPTION_TIGHT = "(?:ข้อ|ตัวเลือก|선택지|보기|選択肢|記号)"
_RIGHT_TIGHT = "(?:(?:ที่)?ถูก(?:ต้อง)?|맞(?!지)|옳(?!지)|올바른|적절한|正し(?:い|く(?!な))|適切な?)"
_LINK_TIGHT = "(?:คือ|เป็น|จึง|은|는|이|가|は|が|最も|もっとも|の|として|번|号)"
# What heads an answer: "Respuesta", "Правильный ответ", 答え.
ANSWER_OTHERS = (
    rf"(?:(?<!\w)(?:{_ANSWER_WORDS}|{_NAMING_WORDS})(?: {_RIGHT_WORDS})?|{_ANSWER_TIGHT})"
)
_BETWEEN = r"[ ,:\"'«„“(（「\[*\-–—]{0,4}"
_SPACED_FILL = (
    rf"(?:{_BE_WORDS}|{_LINK_WORDS}|{OPTION_OTHERS}|{_RIGHT_WORDS}|{_ANSWER_WORDS})(?!\w)"
)
_FILL_OTHERS = (
    rf"(?:{_BETWEEN}(?:{_SPACED_FILL}|{_OPTION_TIGHT}|{_RIGHT_TIGHT}|{_LINK_TIGHT})){{0,6}}"
)
_SPACED = r"(?<!\w)"
_ANNOUNCED_OTHERS = either(
    rf"{_SPACED}{_ANSWER_WORDS}(?!\w)[^\w.;]{{0,3}}(?:{_RIGHT_WORDS}(?!\w)[^\w.;]{{0,3}})?"
    rf"(?:{_LINK_WORDS} )?(?:{_BE_WORDS}|{_RIGHT_WORDS})(?!\w){_FILL_OTHERS}",
    rf"{_SPACED}(?:{_NAMING_WORDS}|{_CHOOSE_WORDS})(?!\w){_FILL_OTHERS}",
    rf"{_SPACED}{_RIGHT_WORDS} (?:{_ANSWER_WORDS}|{OPTION_OTHERS})(?!\w){_FILL_OTHERS}",
    rf"{_SPACED}{OPTION_OTHERS} {_RIGHT_WORDS}(?!\w){_FILL_OTHERS}",
    rf"{_SPACED}{_RIGHT_WORDS}[: ]{{1,2}}{_BE_WORDS}(?!\w){_FILL_OTHERS}",
    rf"(?:{_ANSWER_TIGHT}|{_RIGHT_TIGHT} ?{_OPTION_TIGHT}|"
    rf"{_OPTION_TIGHT}{_RIGHT_TIGHT}|{_RIGHT_TIGHT}のは|(?<!ตัว)เลือก){_FILL_OTHERS}",
)
_CONCLUDED_OTHERS = either(
    rf"{_SPACED}{_SO_WORDS}(?!\w){_FILL_OTHERS}",
    rf"(?:よって|したがって|従って|따라서|그러므로|ดังนั้น){_FILL_OTHERS}",
)
_DENIED_OTHERS = rf"(?:{_SPACED}{_NOT_WORDS}(?!\w)|ไม่ใช่){_FILL_OTHERS}"
_CONTRAST_OTHERS = (
    r"では?なく、?|[가이] 아니라|"
    r"(?:^|,)\W*(?:sondern|sino|mais|mas|ma|lecz|ale|а|но|بل|बल्कि|بلکہ|tetapi|mà)(?!\w)"
    + _FILL_OTHERS
)
COPULA_END = either(r"""
    です | だ | である | で | に(?:なる|なり) | と(?:なる|なり|い) | 입니다 | 이다 | 이며 | 번
    예요 | है | ہے | ครับ | ค่ะ | ['’][dt][ıiuü]r | şık\w* | seçene\w*
""")
REASON_OTHERS = either("""
    porque | ya que | pues | pois | já que | car | parce | puisque | weil | denn | perché
    poiché | ponieważ | gdyż | çünkü | потому | так как | поскольку | لأن | क्योंकि | کیونکہ
    เพราะ | vì | karena | から | ので | 때문
""")
_ENDS_OTHERS = rf"{_MARKS_END}|[،؛؟।۔]|{COPULA_END}|{REASON_OTHERS}"
_TAIL_FILL = rf"[ ,]{{0,2}}(?:(?:{_BE_WORDS}|{_LINK_WORDS}|{OPTION_OTHERS})(?!\w)[ ]){{0,4}}"
_TIGHT_TAIL = rf"[)」』]? ?(?:{_LINK_TIGHT} ?){{0,3}}"
_ANNOUNCED_TAIL_OTHERS = either(
    rf"{_TAIL_FILL}(?:{_RIGHT_WORDS} )?(?:{_ANSWER_WORDS}|{_NAMING_WORDS})(?!\w)",
    rf"{_TIGHT_TAIL}{_ANSWER_TIGHT}",
    r"[)」』]?(?:を選|だと思|と考え|[를을] ?(?:선택|고르|택)|(?:이라|라)고 생각)",
)
_AFFIRMED_TAIL_OTHERS = either(
    rf"{_TAIL_FILL}{_RIGHT_WORDS}(?!\w)(?! {_NOT_WORDS}(?!\w))", rf"{_TIGHT_TAIL}{_RIGHT_TIGHT}"
)
_DENIED_TAIL_OTHERS = either(
    rf"{_TAIL_FILL}(?:{_NOT_WORDS}|{_WRONG_WORDS}|{_RIGHT_WORDS} {_NOT_WORDS})(?!\w)",
    rf"{_TIGHT_TAIL}(?:ผิด|ไม่|아니|아닙|아닌|틀[린렸]|맞지|옳지|誤り|間違|不正解|不適切|正しくな)|では?な[いく]",
)

# ---------------------------------------------------------------- the languages


@dataclass(frozen=True, slots=True)
class Grammar:
    """How a language speaks of options: patterns of leads, to their end, and of tails."""

    denied_lead: re.Pattern[str]
    announced_lead: re.Pattern[str]
    corrected_lead: re.Pattern[str]
    concluded_lead: re.Pattern[str]
    possible_lead: re.Pattern[str]
    copula_lead: re.Pattern[str]
    contrast_lead: re.Pattern[str]
    ends: re.Pattern[str]
    text_ends: re.Pattern[str]
    announced_tail: re.Pattern[str]
    affirmed_tail: re.Pattern[str]
    denied_tail: re.Pattern[str]


def _grammar(*patterns: str) -> Grammar:
    leads, tails = patterns[:7], patterns[7:]
    return Grammar(*(re.compile(f"(?:{lead})$") for lead in leads), *map(re.compile, tails))


ENGLISH = _grammar(
    *(_DENIED_EN, _ANNOUNCED_EN, _CORRECTED_EN, _CONCLUDED_EN, _POSSIBLE_EN, _COPULA_EN),
    _CONTRAST_EN,
    *(_ENDS_EN, _TEXT_ENDS_EN, _ANNOUNCED_TAIL_EN, _AFFIRMED_TAIL_EN, _DENIED_TAIL_EN),
)
CHINESE = _grammar(
    *(_DENIED_ZH, _ANNOUNCED_ZH, _CORRECTED_ZH, _CONCLUDED_ZH, _POSSIBLE_ZH, _COPULA_ZH),
    _CONTRAST_ZH,
    *(_ENDS_ZH, _TEXT_ENDS_ZH, _ANNOUNCED_TAIL_ZH, _AFFIRMED_TAIL_ZH, _DENIED_TAIL_ZH),
)
_CHINESE_BEGINS = "\u3040"  # kana included
_MAX_TAIL = 40  # characters that tell the language of a tail


@cache  # at first use: most replies are in one of the two
def _other_languages() -> Grammar:
    """English, Chinese and the others together, for sentences of the others."""
    return _grammar(
        either(_DENIED_OTHERS, _DENIED_EN, _DENIED_ZH),
        either(_ANNOUNCED_OTHERS, _ANNOUNCED_EN, _ANNOUNCED_ZH),
        either(_CORRECTED_EN, _CORRECTED_ZH),
        either(_CONCLUDED_OTHERS, _CONCLUDED_EN, _CONCLUDED_ZH),
        either(_POSSIBLE_EN, _POSSIBLE_ZH),
        either(_COPULA_EN, _COPULA_ZH),
        either(_CONTRAST_OTHERS, _CONTRAST_EN, _CONTRAST_ZH),
        either(_ENDS_OTHERS, _ENDS_EN, _ENDS_ZH),
        either(_ENDS_OTHERS, _TEXT_ENDS_EN, _TEXT_ENDS_ZH),
        either(_ANNOUNCED_TAIL_OTHERS, _ANNOUNCED_TAIL_EN, _ANNOUNCED_TAIL_ZH),
        either(_AFFIRMED_TAIL_OTHERS, _AFFIRMED_TAIL_EN, _AFFIRMED_TAIL_ZH),
        either(_DENIED_TAIL_OTHERS, _DENIED_TAIL_EN, _DENIED_TAIL_ZH),
    )


# Scripts of other languages, and words that English has not.
_OF_OTHERS = re.compile(
    r"[\u0400-\u052f\u0590-\u0dff\u0e00-\u0e7f\u1100-\u11ff\u3040-\u30ff\uac00-\ud7af]|"
    rf"(?<!\w)(?:{_ANSWER_WORDS}|{_NAMING_WORDS}|{_CHOOSE_WORDS}|opción|alternativa|letra|lettre|opção|"
    r"opzione|seçene\w*|şık\w*|richtig\w*|korrekt\w*|correc?t[ao]|correcte|falsch\w*|incorrec?t[ao]|"
    r"incorrecte|errad[ao]|doğru\w*|yanlış\w*|ist|est|es|é|è|jest|nicht|donc|somit|sondern|sino|lecz|mais|weder|né|nem|jadi|vậy)(?!\w)"
)


def grammar_of_lead(lead: str) -> Grammar:
    """The language in which a lead ends."""
    if _OF_OTHERS.search(lead):
        return _other_languages()
    return CHINESE if lead[-1:] >= _CHINESE_BEGINS else ENGLISH


def grammar_of_tail(tail: str) -> Grammar:
    """The language in which a tail goes on."""
    if _OF_OTHERS.search(tail, 0, _MAX_TAIL):
        return _other_languages()
    first = tail[:4].lstrip(" ,.:、;-–—|(")[:1]
    return CHINESE if first >= _CHINESE_BEGINS else ENGLISH


# ---------------------------------------------------------------- negation


class Stems:
    """Parts of words, in ASCII and others, of which every match of a pattern holds one.

    Blanks stand between them, and a low line for a blank. Most sentences hold none, and a search
    for them is much quicker than for the pattern.
    """

    def __init__(self, ascii: str, others: str) -> None:
        self._ascii = tuple(stem.replace("_", " ") for stem in ascii.split())
        self._others = tuple(others.split())

    def may_be_in(self, text: str) -> bool:
        """Whether the pattern may match in a text; False where it certainly does not."""
        for stem in self._ascii:  # quicker than any()
            if stem in text:
                return True
        return not text.isascii() and any(stem in text for stem in self._others)


_CLAUSE_BEGINS = re.compile(
    r"[,;:—(]|\b(?:but|yet|so|therefore|hence|thus|instead|rather|though|and)\b|"
    "但|而|所以|因此|因而|故|于是"
)
_NEGATION = re.compile(
    r"n't\b|\b"
    + either("""
    not | never | hardly | scarcely | barely | rarely | seldom | unlikely | least | worst
    weakest
    poorest | refuse | disagree | deny | oppose | nothing | none | nobody | no one | neither | nor
    by no means | surprised | no way | isnt | arent | wasnt | cant | dont | doesnt | didnt | wont
    no (?:evidence|reason|support|indication|sign|hint|proof|basis) | wouldnt | couldnt
    (?<!no )(?<!without )doubt
    """)
    + r"\b|"
    + either("""
    不(?!难|得不|仅|但|过|管|论|妨|禁|言|用说|如|错|离十|犹豫|出) | 未必 | 并非 | 绝非 | 决非
    从未 | 无法 | 难以
    没有?(?!错|问题) | 别(?!的|人) | 勿
    """)
)
_NEGATION_STEMS = Stems(
    """
    arent barely basis by_no_means cant couldnt deny didnt disagree doesnt dont doubt evidence
    hardly hint indication isnt least n't neither never no_one no_way nobody none nor not oppose
    poorest proof rarely reason refuse scarcely seldom sign support surprised unlikely wasnt
    weakest wont worst wouldnt
    """,
    "不 从未 决非 别 勿 并非 无法 未必 没 绝非 难以",
)
_ANY_NEGATION = re.compile(
    r"n't\b|\b"
    + either("""
    not | never | no | neither | nor | cannot | without | unlike | hardly | nothing | disagree
    deny
    isnt | arent | wasnt | cant | dont | doesnt | wont
    """)
    + r"\b|不(?!久|断|锈|丹)|没|非(?![洲常])|无(?!论|锡|线)|未(?!来)"
)
# "the one that is not true is B" names B all the same.
_NAMES_WRONG_ONE = re.compile(
    r"的(?:选?项|一项|一个|说法|描述|答案)?(?:应该?)?(?:是|为|选)?$|"
    r"\b(?:that|which|one)\b.*\bis\W*$"
)


def is_negated(lead: str) -> bool:
    """Whether the clause that leads to a mention is negated: "I don't think it's"."""
    if not _NEGATION_STEMS.may_be_in(lead) or not _NEGATION.search(lead):
        return False
    clause = _last_clause(lead)
    return bool(_NEGATION.search(clause)) and not _NAMES_WRONG_ONE.search(clause)


def holds_negation(lead: str) -> bool:
    """Whether any word of the clause before a mention negates: "it has nothing to do with"."""
    return bool(_ANY_NEGATION.search(_last_clause(lead)))


def _last_clause(lead: str) -> str:
    core = lead.rstrip(" :\"'“‘([{")
    return core[max((cut.end() for cut in _CLAUSE_BEGINS.finditer(core)), default=0) :]


# ---------------------------------------------------------------- conditions, and what others think

_SUPPOSED = re.compile(
    either(
        r"\bif\b(?! (?:i|we|you|one) (?:had|have|were|must|need|really|am|are)\b)"
        r"(?! (?:forced|pressed|pushed|i'm|anything)\b)[^,;:]*",
        r"\b(?:unless|(?<!i )suppose|supposing|assuming|whether|in case|otherwise)\b[^,;:]*",
        r"\b(?:although|though|even (?:if|though)|while|despite|albeit)\b[^,;:]*",
        r"\b"
        + either(r"""
        people | students? | many | some | others | they | someone | beginners? | trap
        distractor
        tempting | (?<!my )mistake | mistakenly | misconception
        (?:you|one) (?:might|may|could|would)
        might (?:think|seem|say) | at first | initially | originally | (?:it's|is) said
        supposedly
        allegedly | (?:wrong|mistake|incorrect|unwise|error|silly|tempting) to | previous
        previously
        (?<=\bi )first (?:put|wrote|said|chose|picked) | first (?:thought|considered) | earlier
        was going to | almost | nearly | (?:my|the) (?:\w+ )?answer was
        """)
        + r"\b,?[^,;]{0,60}",
        either("""
        虽然? | 尽管 | 即便 | 固然 | 如果 | 假如 | 假设 | 若 | 倘若 | 要是 | 与其 | 是否 | 是不是
        能否 | 为什么 | 为何
        除非 | 难道 | 假定 | 即使 | 怎么会 | 怎么可能 | 谁说 | 岂
        """)
        + "[^,;:]*",
        either("""
        有人 | 据说 | 听说 | 有的人 | 很多人 | 不少人 | 许多人 | 有些人 | 大家 | 他们 | 同学
        学生 | 考生 | 别人
        误[选认以将] | 容易 | 乍一?看 | 初看 | 起初 | 一开始 | 最初 | 刚开始 | 本来 | 原本
        原以为 | 前面 | 之前 | 先前
        干扰项 | 陷阱 | 你可能 | 你也许 | 可能会
        """)
        + "[^,;。]{0,16}",
    )
    + "$"
)

_SUPPOSED_STEMS = Stems(
    """
    _said albeit allegedly almost answer_was assuming at_first beginner considered despite
    distractor earlier error even_ first_ if in_case incorrect initially many might_ misconception
    mistake nearly one originally others otherwise people previous silly some student suppose
    supposing tempting they though trap unless unwise was_going_to whether while wrong you
    """,
    """
    一开始 不少人 与其 为什么 为何 之前 乍 他们 你也许 你可能 假如 假定 假设 先前 刚开始 初看 别人
    前面 即使 即便 原以为 原本 可能会 同学 听说 固然 大家 如果 学生 容易 尽管 岂 干扰项 很多人
    怎么会 怎么可能 据说 是不是 是否 最初 有些人 有人 有的人 本来 考生 能否 若 虽 要是 许多人 误
    谁说 起初 除非 陷阱 难道
    """,
)


def is_supposed(lead: str) -> bool:
    """Whether what follows is a condition, or what others think: "students often choose"."""
    return _SUPPOSED_STEMS.may_be_in(lead) and bool(_SUPPOSED.search(lead))


# ---------------------------------------------------------------- refusals and second thoughts

_REFUSES = re.compile(
    r"\b(?:don't know|do not know|not sure|cannot|can't|unable|sorry|unclear)\b|"
    "无法|不知道|不确定|不清楚|抱歉|不能",
    re.IGNORECASE,
)
_PROVISIONAL = re.compile(
    r"\b(?:first|initial|preliminary|tentative|provisional)(?: \w+)? "
    r"(?:guess|thought|instinct|impression|reaction|idea|answer|choice|pick)\b|"
    "第一(?:反应|印象|感觉|直觉)|初步",
    re.IGNORECASE,
)


def refuses(text: str) -> bool:
    """Whether the text says that it has no answer."""
    return bool(_REFUSES.search(text))


def is_provisional(text: str) -> bool:
    """Whether the text calls an answer a first one: "my first guess is"."""
    return bool(_PROVISIONAL.search(text))


_TAKES_BACK = re.compile(
    r"(?:^|[.,;:!?…—–\-( ])"
    + either(r"""
    wait\b | hold on\b | hmm+ | on (?:second|further) thought | on reflection | scratch that
    correction\b | edit: | oops | no, | no wait | no\. | let me (?:re|double) | let's (?:re|double)
    let us re | sorry\b | i meant
    changed my mind | never ?mind | forget (?:it|that|what) | ignore (?:that|my)
    my mistake\b | i take (?:that|it) back | i retract | or (?:is|was|does) it\b | or not\b
    """)
    + r"|that(?:'s| is) (?:wrong|not right|incorrect)|back and forth|"
    r"\b(?:made|see|spot|found|notice|there is|there's) (?:an?|my|the) (?:mistake|error|slip)\b|"
    r"(?:^|[.!?] ?)\W*"
    + either(r"""
    (?:definitely|certainly|surely|absolutely|probably|of course) not(?=\s*(?:$|[.,;!?…]))
    (?:nope|nah|never|not (?:really|at all|likely|quite))(?=\s*(?:$|[.,;!?…]))
    i (?:don't|do not) (?:think|believe) so | i doubt
    """)
    + "|(?:^|[。,;!?… ])(?:不对|不,|不不|哦不)|"
    + either("""
    等等(?=[,.。…! ]) | 等一下 | 更正 | 再想 | 让我再 | 打错了 | 说错了 | 改主意 | 算了 | 忽略
    收回 | 当我没说 | 定不下来
    """)
)
_TAKES_BACK_STEMS = Stems(
    """
    _thought absolutely ah at_all back_and_forth believe certainly changed_my_mind correction
    definitely edit: ever forget_ hm hold_on i_doubt i_meant i_retract i_take_ ignore_ incorrect
    let_me_ let_us_ let's_ likely mistake slip error no, no. not_right of_course on_reflection
    oops ope or_ probably quite really scratch_that sorry surely think wait wrong
    """,
    """
    不, 不不 不对 再想 哦不 定不下来 当我没说 忽略 打错了 收回 改主意 更正 等一下 等等 算了 让我再
    说错了
    """,
)
_NO = re.compile(r"\W*(?:不是|不可能|不会|并不是?|当然不是?)\W*")


def takes_back(words: str) -> bool:
    """Whether the words between or behind mentions take back what was said before."""
    return _TAKES_BACK_STEMS.may_be_in(words) and bool(_TAKES_BACK.search(words))


def is_no(sentence: str) -> bool:
    """Whether a sentence without mentions only denies what was asked before: 不是。"""
    return bool(_NO.fullmatch(sentence))
