"""English."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from weft.language.sentences import ENGLISH as MARKS
from weft.models.embedded.languages.language import Language, Role, marks, words


def _forms(verb: str) -> Iterator[str]:
    yield verb
    if verb.endswith("e"):
        yield from (verb + "s", verb + "d", verb[:-1] + "ing")
    elif verb.endswith("y") and verb[-2] not in "aeiou":
        yield from (verb[:-1] + "ies", verb[:-1] + "ied", verb + "ing")
    elif verb.endswith(("s", "sh", "ch", "x", "z")):
        yield from (verb + "es", verb + "ed", verb + "ing")
    else:
        yield from (verb + "s", verb + "ed", verb + "ing")
        if len(verb) < 5 and verb[-1] in "bdgmnprt" and verb[-2] in "aeiou" and verb[-3:-2] not in tuple("aeiou"):
            yield from (verb + verb[-1] + "ed", verb + verb[-1] + "ing")


_FUNCTION: Final = words("""
a about above across after again against all almost along already also although always am among amongst an and
another any anybody anyone anything are aren't around as at away back be became because become becomes been
before behind being below beneath beside besides between beyond both but by can can't cannot could couldn't
despite did didn't do does doesn't doing don't done down during each either else enough etc even ever every
everybody everyone everything except few for from further had hadn't has hasn't have haven't having he he'd
he'll he's hence her here hers herself him himself his how however i i'd i'll i'm i've if in indeed inside
instead into is isn't it it's its itself just least less let let's like may maybe me might mine more moreover
most much must my myself near neither never nevertheless no nobody none nor not nothing now nowhere of off often
on once one ones only onto or other others otherwise our ours ourselves out over own per perhaps quite rather
really same shall she she's should shouldn't since so some somebody someone something sometimes somewhat still
such than that that's the their theirs them themselves then there there's thereby therefore these they they're
they've this those though through throughout thus to together too toward towards under unless unlike until up
upon us very via was wasn't we we'd we'll we're we've well were weren't what whatever when whenever where
whereas wherever whether which whichever while who whoever whole whom whose why will with within without won't
would wouldn't yes yet you you'd you'll you're you've your yours yourself yourselves
""")

_REGULAR: Final = words("""
accept achieve act add affect agree aim allow answer appear apply argue arrive ask assume avoid base believe
belong call carry cause change check claim climb close compare complete consider consist contain continue
contribute cost count cover create cross cut deal decide declare define deliver depend describe design destroy
develop die differ discover discuss drop earn employ enable end enjoy ensure enter escape establish exist expect
explain explore express extend face fail fit fix follow force form gain gather grant guess handle happen hate
help hold hope identify imagine improve include increase indicate influence install intend introduce invent
invite involve join keep kill know lack last lead learn leave let lie limit link list listen live look lose love
maintain make manage mark matter mean measure meet mention move need note notice obtain occur offer open operate
order pass pay permit pick place plan play point prefer prepare present prevent produce protect prove provide
publish pull push put raise reach read realise realize receive recognise recognize recommend reduce refer refuse
regard reject relate release rely remain remember remove repeat replace report represent require result return
reveal rise run save say see seek seem sell send separate serve set settle share shift show sit solve sound
speak spend spread stand start state stay stop store struggle study succeed suffer suggest supply support
suppose survive take talk teach tell tend test thank think throw touch train travel treat try turn understand
use vary visit wait walk want warn watch wear win wish wonder work worry write absorb accuse adapt admit admire
advise afford announce annoy apologize appoint appreciate approve arrange assemble attach attempt attend attract
avoid await bake beg behave bind blame blow boil borrow bother bounce breathe burn bury calculate cancel capture
celebrate choose chop clean clear collapse collect combine commit complain concentrate confirm confuse connect
conquer construct consult consume convert convince cook copy correct counter crack crawl cry cure dare date debate
decline defeat defend delay delete demand deny deposit deserve detect disagree disappear dismiss display distribute
disturb divide double drag draw dream dress drift drink drip dry earn edit educate embrace emerge emphasize encourage
endure engage enforce evolve examine exceed exchange exclude excuse execute exercise expand exploit export extract
fade feed fetch fill finance finish flow flush fold forbid forgive freeze frighten fulfil fulfill generate glow grab
greet grind grip guarantee guard guide hang harm hate haul heal heat hesitate hide hire hunt hurry ignore illustrate
impose impress import infect inform inherit insist inspect inspire integrate interrupt invest investigate jump justify
kick kiss knock land laugh launch lean leap lend lift light load lock log melt mend merge mix modify multiply obey
object observe organise organize overcome owe own pack paint park pause perform persist persuade plant pour praise
pray preserve press pretend promise promote propose punish pursue qualify quote rank react rebuild recall reckon
recover recruit refill reflect register regret regulate relax rent repair reply request rescue research resemble
resign resist resolve respect respond restore restrict retain retire reverse revise reward rid roll rub ruin rush
sail satisfy scan scatter scream search seal secure seize select shake shape shine shout shrink sigh sign sing sink
slip smell smile snap solve sort split spoil spot squeeze stare steal stick stir strike strip stretch submit subtract
suck sue surprise surrender surround suspect suspend swallow swear sweep swim swing switch tackle taste tear tempt
threaten tie tighten toss trace track trade transfer transform translate transport trap trust twist undergo undertake
unite update upgrade upload urge vanish vote wake wander warm wash waste water wave weaken weigh whisper widen wipe
withdraw yell yield
""")
_IRREGULAR: Final = words("""
was were is are am be been had has have did does do done went gone goes came come comes became began begun broke
broken brought built bought caught chose chosen drew drawn drank drove driven ate eaten fell fallen felt fought
found flew forgot forgotten gave given got gotten grew grown heard held hid hit hurt kept knew known laid led
left lent lay lost made meant met paid put quit ran rang read rode rose risen said sang sat saw seen sent set
shook shone shot showed shown shrank shrunk shut slept slid sold spent spoke spoken spun spread stood stole
struck stuck sung sank swam swept swore swung taken taught thought threw thrown told took tore torn understood
underwent woke won wore worn wound wrote written grows grow growing falls falling takes gives give giving gets
get getting goes going comes coming finds find finding keeps holds begins begin beginning means runs makes
making brings bring bringing builds build building breaks break dropped stopped planned rises lies sits tells
feels feel feeling thinks knows says saying sees seeing shows sets lets loses leads leaves stands speaks spends
sells buys buy drives eats flies hears hits pays reads rings seeks sends shuts sleeps teaches wears wins writes
can could may might must shall should will would cannot can't won't doesn't don't didn't isn't aren't wasn't
weren't hasn't haven't hadn't couldn't wouldn't shouldn't it's that's there's we're they're i'm
""")
_NOUN_LIKE: Final = words("""
cost design plan plans study studies test tests work training learning building change changes support supply
trust report reports need needs train trains place places state states market increase measure measures release
releases order orders results result share shares store stores visit list lists link links limit limits end ends
form forms force forces face faces design designs answer answers claim claims cause causes act acts aim aims
drop drops hope hopes love play plays point points present push returns run runs shift shifts sound sounds stand
start starts stop stops struggle talk talks turn turns use uses walk walks watch win wins worry worries reading
writing meaning living cuts offer offers building feeling beginning wound spread lead leads debate debates
deposit deposits display exchange exchanges export
exports finance fold guarantee guarantees guard guards guide guides harm heat import imports kiss land light lights
load loads lock locks log logs object objects park parks plant plants press promise promises rent rents repair repairs
request requests research respect reward rewards search seal seals sign signs spot spots strike strikes strip strips
switch switches taste trace traces track tracks trade trades trap traps trust twist update updates upgrade upgrades
vote votes waste water waters wave waves yield yields cook cooks copy copies date dates delay delays demand demands
dream dreams dress drink drinks exercise exercises flow flows grip light mix paint pause rank ranks regret research
roll rolls rush sail sails scan scans shape shapes smell smile smiles transport vote warm wake crack cracks cure cures
grant grants lift lifts parking lighting heating washing planting
""")
_VERBS: Final = frozenset(form for verb in _REGULAR for form in _forms(verb)) | _IRREGULAR

_NUMERALS: Final = words("""
two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen
nineteen twenty thirty forty fifty sixty seventy eighty ninety hundred thousand million billion half third
thirds quarter quarters fifth tenth dozen dozens hundreds thousands millions twice
""")

_WEAK: Final = words("""
able actual actually additional amount anyway apart appropriate available away bad basic best better big bigger
biggest bit bottom brief briefly broad case cases certain certainly chapter clear clearly close common commonly
complete completely considerable contrary couple course current currently date days deep different difficult
directly due early easier easily easy eight entire entirely equal especially essential even eventually exact
exactly example examples extra extremely fact facts fairly far fast fewer finally fine first five following
former four free frequently full fully general generally good great greater greatest half happy hard hardly
heavy high higher highest hours huge hundred hundreds immediately important interesting item kind kinds large
largely larger largest late later latest latter left less light likely little local long longer lot lots low
lower main mainly major many mere merely middle mile miles million minutes modern moment months mostly multiple
naturally nearly necessary new newer next nice nine normal normally number numbers obvious obviously old older
one opposite original originally outside overall paragraph particular particularly parts past percent perfect
piece pieces plain plenty points poor possible possibly potential practically pretty previous previously primary
probably proper properly quick quickly quiet rare rarely ready real reason reasons recent recently relatively
relevant right rough roughly round second seconds section sense separate series serious set seven several sheer
worse worst better best short significant similar similarly simple simply single six size slightly slow slowly
small smaller soon sort sorts special specific specifically standard steady step strong subject substantial
sudden suddenly sure surprisingly ten term terms thing things third thousand thousands three times today
tomorrow tonight top total toward true truly twelve twenty twice two type types typical typically unable
unfortunately unique usual usually valid various vast view way ways weeks whatever wide widely willing wrong
years yesterday young shaped suited dried bought built known called named given seen taken made done gone based
end ends beginning gb mb kb tb km kg cm mm mr mrs ms dr prof dear yours
lot gets got getting goes going anything everything something nothing someone anyone everyone
""")

_ROLES: Final[dict[Role, tuple[str, ...]]] = {
    "contrast": marks("""
        but, however, yet, although, though, even though, despite, in spite of, nevertheless, nonetheless,
        whereas, on the other hand, on the contrary, by contrast, in contrast, instead, rather than, unlike,
        contrary to, at the same time, paradoxically, ironically, conversely, except that, and yet, only to, far
        from, paradox, otherwise, the opposite"""),
    "cause": marks("""
        because, therefore, thus, hence, as a result, consequently, due to, leads to, led to, caused by, that is
        why, this is why, the reason, so that, owing to, thanks to, results in, resulted in, which means, for
        this reason, explains why, the cause was, the cause is, the answer is, the answer lies"""),
    "example": marks("""
        for example, for instance, such as, e.g, one example, to illustrate, take the case, like when"""),
    "close": marks("""
        in conclusion, in short, in the end, ultimately, finally, to sum up, overall, in summary, after all, at
        the end of the day, the lesson, what remains, we conclude, all in all, taken together"""),
    "claim": marks("""
        i think, i believe, in my view, in my opinion, we argue, i argue, clearly, the truth is, the point is,
        matters, the real, the most important, it is time, essential, deserves, crucial, the best, the worst,
        greatest, wrong, we believe, i would argue, what matters, the trouble with, the question is not, no
        better, better than, worse than, i have come to, the whole, punished, everyone, argues, argue, the price
        of, is a skill, ought, nobody gives"""),
    "advice": marks("""
        should, must, need to, needs to, ought to, you have to, we have to, make sure, be sure, avoid, never
        use, always use, it is best, recommend, recommends, recommended, try to, consider, remember to, do not,
        don't, is advised"""),
    "problem": marks("""
        problem, problems, risk, risks, danger, dangers, fail, fails, failed, failure, crisis, threat,
        threatens, lack, lacks, shortage, difficult, worse, loss, losses, lost, warning, conflict, harm,
        struggle, struggles, vulnerability, unfortunately, broke, broken, damage, died, deaths, debt, fear,
        fears"""),
    "change": marks("""
        no longer, used to, became, becomes, turned into, grew, growing, rose, rises, fell, falls, declined,
        declining, increased, increasing, doubled, tripled, halved, shrank, shifted, transformed, replaced,
        dropped, since then, for the first time, until then, by then, began to, changed, changes, has become,
        have become"""),
    "measure": marks("""
        more than, less than, fewer than, compared with, compared to, as much as, twice as, three times as,
        times more, faster than, higher than, lower than, larger than, smaller than, better than, worse than,
        half of, a third, two thirds, versus, on average, per cent, percent, majority, ratio"""),
    "scene": marks("""
        one day, one morning, one evening, one night, that day, that night, that morning, that summer, that
        winter, i remember, when i was, when she was, when he was, years ago, months ago, weeks ago, at the age
        of, grew up, was born, walked, sat down, stood, looked, opened the door, the first time, every morning,
        told me, asked me, i asked, she remembers, he remembers, woke"""),
    "unknown": marks("""
        unknown, nobody knows, no one knows, not known, unclear, unanswered, mystery, remains to be seen, open
        question, the question is, the question remains, we do not know, we don't know, uncertain, it is not
        clear, remains open, wonder, wonders, still debated, cannot answer, can't answer, no answer, is a
        question, are a question, nobody can say, no one can say"""),
    "surprise": marks("""
        surprising, surprisingly, surprised, unexpected, unexpectedly, strange, strangely, hidden, secret,
        puzzle, puzzling, nobody expected, no one expected, by accident, to everyone's surprise"""),
}

_POSITIVE: Final = words("""
good great excellent wonderful best better success successful succeed succeeded improve improved improves
improvement benefit benefits beneficial happy happiness joy joyful love loved loves beautiful hope hopeful win
wins won gain gains gained effective efficient reliable easy helpful helps healthy strong stronger growth thrive
thrives thriving celebrate celebrated praise praised proud pride generous kind kindness brilliant delight
delighted delightful pleased pleasure remarkable impressive promising progress robust safe safer trust trusted
valuable welcome welcomed enjoy enjoyed encouraging elegant exciting fascinating favourite favorite fresh
grateful inspiring positive perfect recover recovered recovery rescue rescued resilient revive revived
satisfying smile smiled smooth thank thanks triumph vibrant warm
""")
_NEGATIVE: Final = words("""
bad worse worst terrible awful horrible poor failure failures fail fails failed failing loss losses lost lose
loses crisis crises disaster disasters catastrophe danger dangerous dangers harm harmful harms hurt hurts damage
damaged damages pain painful suffer suffers suffered suffering sad sadness fear fears afraid angry anger hate
hated cruel death deaths dead die dies died kill kills killed war wars attack attacks attacked violence violent
victim victims threat threats threaten threatened threatens collapse collapsed collapses decline declined
declines declining shortage shortages poverty hunger drought flood floods debt bankrupt bankruptcy corruption
corrupt fraud lie lies scandal problem problems broken broke destroy destroyed destroys destruction toxic
pollution polluted sick sickness disease diseases ill illness injury injuries injured lonely loneliness despair
hopeless miserable misery neglect neglected negative weak weaker worry worries worried wrong ugly unfair unjust
unsafe useless waste wasted abandoned burden struggle struggled struggling crash crashed closed closure cut cuts
""")

ENGLISH: Final = Language(
    code="en",
    function=_FUNCTION,
    weak=_WEAK | _NUMERALS | (_VERBS - _NOUN_LIKE),
    thin=words("""
        day evening hand home hour minute month morning night part people person point side time week year"""),
    verbs=_VERBS,
    commands=(_REGULAR - _NOUN_LIKE)
    | words("""
        check close cover cut design answer order open place plan play point test turn use visit watch note list
mark move
        set start stop run save send store test try copy cook mix plant press search sign switch update fold
        do don't never always please be go get give find bring put stir mix bake cook heat fold mash knead pour"""),
    pronouns=words("it them they he him she it's they're he's she's"),
    first_person=words("i my me mine we our us i'm i've i'd i'll we're we've myself"),
    before_nouns=words("""
        a an the of in on at by for from with about into through over under between among against during without
        within this that these those my your his her its our their each every some any no another such per via
        whose"""),
    before_verbs=words("""
        to i you he she we they it who will would can could should must may might shall not don't doesn't didn't
        cannot can't won't never always"""),
    joining=words("of the"),
    leaning=words("""
        it it's here's there's its he's she's he'd she'd they're they'd that's this that these those they them their
        he him his she her such both neither either another others here there then thus so therefore hence also
        instead one some which who and or but yet nor because similarly likewise otherwise consequently
        accordingly moreover furthermore still"""),
    openers=marks("""
        however, but, and, yet, so, also, thus, therefore, hence, moreover, furthermore, in addition,
        additionally, nevertheless, nonetheless, of course, in fact, indeed, well, now, then, meanwhile,
        consequently, as a result, for example, for instance, in other words, on the other hand, in short, in
        conclusion, finally, overall, still, instead, similarly, likewise, in particular, specifically, note
        that, please note that, or, i mean, you know, right, okay, ok, yeah, um, uh, look, after all, in the
        end, to sum up, to be fair, by contrast, in contrast"""),
    asides=marks("""
        which, who, whose, where, whom, in which, of which, from which, for which, at which,
        including, such as, according to, as well as, and, then, making, giving,
        leaving, so"""),
    limits=words("""
        but except unless if not only although though however until without when provided whether never no nor
        despite subject otherwise because"""),
    abbreviations=MARKS.abbreviations,
    roles=_ROLES,
    because=("because",),
    but=("but", "yet", "whereas"),
    copulas=words("is are was were means refers"),
    pointers=marks("""
        see, for more, for information, for details, for further, refer to, please, click, read more, more
        information, this section, this chapter, this document, the following, as described, below are, visit,
        let's, let us, we'll, we will, in this, in the next, welcome to, as we, as mentioned, earlier, as such,
        note that, read this, welcome back, welcome everyone, thank you, thanks, hello, dear, yours, best regards,
        kind regards, with me today, today i'm joined, good morning, good evening, cheers"""),
    saying=MARKS.saying,
    titles=words("""
        mr mrs ms miss dr prof professor sir lady lord president minister senator judge captain chief director
        king queen prince princess pope bishop general colonel chancellor mayor governor doctor engineer
        economist historian biologist researcher author writer founder chairman spokesman spokeswoman teacher
        farmer"""),
    bodies=words("""
        university institute college school ministry department agency committee commission council court bank
        foundation association society union company corporation corp inc ltd llc group party office bureau
        board museum hospital laboratory laboratories lab organisation organization federation league club
        network centre center press times journal fund trust authority service services project parliament
        senate congress alliance consortium academy"""),
    places=words("in at from near to of outside across"),
    months=words("""
        january february march april may june july august september october november december monday tuesday
        wednesday thursday friday saturday sunday"""),
    scales=words("percent per-cent hundred thousand million billion trillion dozen times fold"),
    numerals=_NUMERALS,
    references=words("""
        section sections version versions chapter chapters figure figures table tables page pages paragraph
        clause article step part volume number line lines appendix annex item rfc no p pp fig python release
        level grade room highway route flight"""),
    positive=_POSITIVE,
    negative=_NEGATIVE,
    negations=words("not no never without hardly don't doesn't didn't isn't wasn't can't cannot won't nor neither"),
)
