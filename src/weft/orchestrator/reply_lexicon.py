"""The words that replies are judged by: lists of phrases, separated by ";" or a new line ("~" at an end: goes on).

A phrase is a pattern over whole words in the form that `reply_clauses` gives them: lower case, no accents, not
contracted. `<object>`, `<run>` and the like stand for the patterns below. Whoever adds a phrase adds it to the tables
of the tests as well, with one that is near to it and must not match.
"""

from __future__ import annotations

import re
from typing import Final

_PARTS: Final = {
    "<det>": "(?:the|this|that|these|those|your|our|my|all|all of)",
    "<adj>": "(?:refined|revised|current|proposed|next|whole|entire|updated|amended|same|suggested|first|final|"
    "original|full|existing|remaining|new|rest of the|planned)",
    "<noun>": "(?:plan|analysis|research|pipeline|run|steps?|stages?|phases?|retrieval|search|work|process|report|"
    "draft|outline|implementation|summary|writing|review|proposal|scope|approach|rest|tasks?|job|workflow|changes|results?|findings|"
    "version|code|tests?|synthesis|verification|suggestions?|questions|one|thing|agent|conversation|above|"
    "recommendations?|publication|gate)",
    "<it>": "(?:it|this|that|them|these|everything|all|all of it|all of this|what you have)",
    "<object>": r"(?:<it>|(?:<det> )?(?:<adj> )*<noun>(?: (?:number )?\d+)?|(?:<det> )?next)",
    "<run>": "(?:<det> )?(?:<adj> )?(?:run|job|process|work|workflow|task|whole thing|research|execution)",
    "<pipeline>": "(?:<det> )?(?:<adj> )?(?:pipeline|agent)",
    "<very>": "(?: (?:very|really|so|pretty|all|just|absolutely|totally|perfectly|exactly))?",
    "<fine>": "(?:good|great|fine|okay|perfect|excellent|correct|right|alright|all right|awesome|fantastic|wonderful|"
    "lovely|ready|approved|solid|reasonable|sensible|spot on|nice|complete)",
}


def any_of(phrases: str) -> str:
    """One pattern of a list, the longest phrase first, so that a short one can't take the beginning of a long one."""
    listed = [phrase.strip() for phrase in re.split(r" ; |\n", phrases.replace("~\n", "")) if phrase.strip()]
    pattern = "(?:" + "|".join(sorted(listed, key=len, reverse=True)) + ")"
    while any(part in pattern for part in _PARTS):
        for part, written in _PARTS.items():
            pattern = pattern.replace(part, written)
    return pattern


BEFORE: Final = any_of(r"""
please ; sorry ; kindly ; just ; now ; well ; so ; hey ; hi ; hello ; um ; uh ; oh ; ah ; actually ; really ; instead
simply ; honestly ; also ; then ; great ; thanks ; thank you ; rather ; i said ; i really want to ; i just want to
i do want to
feel free to ; go ahead and ; let us ; let me ; let us just ; i want to
i want you to ; i would like to ; i would like you to ; i would love to ; i need to ; i need you to
i would prefer to ; i have decided to ; i decided to ; i wish to ; we want to ; we would like to ; time to
it is time to ; ready to ; i am ready to ; i am happy to ; we are ready to ; i choose to ; bitte ; por favor
s'il vous plait ; i mean ; it is fine to ; it is okay to ; we have decided to
""")
"""What may stand before a phrase and adds nothing to it."""

HEDGES: Final = any_of(r"""
i think ; i think that ; i think we should ; i think you should ; i believe ; i believe we should ; we should
you should ; i would ; i would say ; i will ; i might ; we might ; you can ; you may ; you could ; we can
we could ; we may
""")
"""The same, but it takes from how sure it is."""

AFTER: Final = any_of(r"""
please ; now ; then ; thanks ; thank you ; thank you very much ; thank you so much ; thanks a lot ; as is
as planned ; as proposed ; as it is ; as they are ; as you suggested ; as suggested ; right away ; right now
immediately ; asap ; at once ; from here ; anyway ; too ; here ; for me ; to me ; from me ; so far ; already
entirely ; completely ; altogether ; instead ; first ; mate ; everyone ; bitte ; por favor ; svp ; merci
gracias ; danke ; s'il vous plait ; s'il te plait ; very much ; sir ; indeed ; totally ; as before ; with me
if possible
""")
"""What may stand behind it."""

FILLERS: Final = any_of(r"""
please ; now ; thanks ; thank you ; thank you very much ; thank you so much ; thanks a lot ; many thanks
sorry ; cheers ; hi ; hello ; hey ; well ; oh ; ah ; um ; so ; hello there ; hi there ; great work ; good work
great stuff ; good stuff ; you got it
nice work ; nice ; nice job ; good job ; great job ; well done ; cool ; wow ; bitte ; danke ; merci ; gracias
por favor ; right ; that is all ; for now ; anyway ; this is great ; i like it ; i like this ; i like the plan
love it ; i love it ; i understand ; understood ; got it ; i see ; no problem ; not a problem ; no worries
do not worry
i do not mind ; why not ; why wait ; i have no (?:more )?questions?
no (?:more |further |other |new )*questions? ; i have read (?:it|this|that|everything) ; i agree with you
actually ; instead ; just ; guys ; everyone ; i mean ; lol ; haha ; s'il vous plait ; reviewed
i (?:have )?(?:reviewed|checked|read) (?:it|this|that|everything|<object>)
(?:i am|we are) done (?:reviewing|reading|checking)(?: it)?
(?:thanks|thank you) for (?:the|your|this|that|all) .*
never mind (?:my|the last|that) (?:question|message|comment|remark)
""")
"""What says nothing by itself."""

CONTENT: Final = any_of(r"""
add ; replace ; rename ; rewrite ; reword ; rephrase ; shorten ; lengthen ; expand ; extend ; include ; exclude
omit ; fix ; correct ; simplify ; clarify ; narrow ; broaden ; widen ; limit ; restrict ; translate ; reorder
rearrange ; sort ; insert ; append ; mention ; cite ; emphasi[sz]e ; highlight ; trim ; condense ; merge
combine ; split ; reduce ; increase ; swap ; convert ; use ; make ; recheck ; re check ; double check ; check
verify ; focus ; elaborate ; improve ; polish ; tone down ; tone ; leave out ; take out ; get rid of ; put ; set
move ; cut ; redo ; regenerate ; rework ; try ; consider ; cover ; address ; remove ; delete ; drop ; skip
avoid ; incorporate ; integrate ; ensure ; provide ; give (?:it |me |us )?(?:more|fewer|less|some more) ; turn
lower ; raise ; strengthen ; soften ; restructure ; reformat ; format ; number ; group ; quote ; prioriti[sz]e
ignore ; do not forget ; remember ; target ; keep ; keep in mind ; (?:start|begin|open|end|close) with
(?:call|name|title) it ; write (?:it )?in ; answer in ; be (?:so|more|less|brief|concise|specific|precise)
reconsider ; stick to ; ask (?:about|for) ; switch ; take (?:another|a different)
give it an? (?:better|different|new|shorter|longer)
go (?:deeper|into (?:more )?detail) ; dig (?:deeper|into) ; find (?:more|better|newer)
search for (?:more|better|newer) ; andere (?:den|die|das) ; mach es \w+er ; ajoutez? ; ajouter ; remplacez?
cambia ; anade ; agrega
""")
"""What an order to change something begins with: the verb says what."""

CHANGE: Final = any_of(r"""
change ; amend ; adjust ; modify ; revise ; update ; edit ; alter ; tweak ; refine
""")
"""The same, but what to change it to is still to be said."""

SUBJECT: Final = any_of(r"""
(?:i|we|you) (?:would|should|could|must|need to|have to|would need to)
(?:i|we) (?:want|need|would like) you to ; it would be (?:good|nice|great|better) to
(?:you|we) (?:might|may) want to ; (?:i|we) suggest (?:that )?(?:you|we) ; do ; be sure to ; try to
(?:can|could|would|will) you ; (?:can|could|should|might) we ; i would prefer (?:that )?you
""")
"""Who is to do it."""

WISH: Final = any_of(r"""
(?:(?:i|we) (?:want|need|would like)(?: to (?:have|see))? )?(?:a (?:bit|little) |slightly |much |some |even ~
|far )?(?:(?:more|less|fewer|additional) \w.*|(?:shorter|longer|simpler|clearer|bigger|smaller|deeper|stricter~
|softer|briefer)(?: .*)?)
(?:it|this|that|the .+|section .+|question .+|step .+|they|there|these|those) (?:should|must|needs?|has to~
|have to|ought to|could use) (?!i |we |you )\w.*
needs? .+ ; (?:it|this|that|the .+) is missing .+ ; .+ (?:is|are) missing ; you (?:forgot|missed|left out) .+
(?:i|we) would (?:prefer|rather have) .+ ; .+ instead of .+ ; .+ would be (?:better|nicer|great|good)
would you mind \w+ing .+ ; (?:it )?would be (?:nice|good|great) to (?:have|see|add|include) .+
(?:how|what) about (?:adding|using|removing|changing|making|including|shortening|replacing|dropping) .+
(?:(?:it|this|that|the .+|section .+|they) (?:is|are|looks?|seems?) )?(?:a bit |a little |way |much ~
|far )?too (?:long|short|vague|broad|narrow|formal|informal|technical|complicated|complex|wordy|detailed~
|generic|(?:many|much|few|little) .+)
(?:stop|quit|no more) (?:using|adding|including|mentioning|citing|repeating|changing|removing|inventing|making~
|writing) .+
try again ; redo ; regenerate ; (?:do|run|try) (?:it|this|that) again
(?:i|we) (?:want|need|would like) (?:the|it|this|that|these) .*(?:to be|to have|in|as|with|without|about|on) .+
in (?:german|english|french|spanish|italian|plain english|plain language)
(?:kurzer|langer|plus court|plus long|mas corto|mas largo)
""")
"""Ways of saying that something is to be different."""

IDLE: Final = any_of(r"""
(?:remove|delete|drop|skip|cut|use|set|put|turn|move|try|make|give|keep|ignore|leave)(?: (?:it|this|that|them~
|everything|all|on|up|off|out|it all|all of it|<run>|<pipeline>|the session|session|up on it|it out|it off|me~
|at it))?
call it (?:a day|quits|off) ; make sure ; make (?:it|this) (?:stop|end)
(?:sort|kind) of .* ; switch (?:it|this|that)? ?(?:on|off)
get rid of (?:it|this|everything|<run>|<pipeline>)
(?:check|verify) (?:it|this|that)? ?(?:first|yourself)?
""")
"""Looks like an order to change something and could be another reply."""

PHRASES: Final = {
    "hold": any_of(r"""
wait ; hold on ; hang on ; hold ; pause ; one moment ; one second ; a moment ; just a moment ; not yet ; not now
maybe ; perhaps ; maybe later ; perhaps later ; later ; not sure ; i am not sure ; i do not know ; no idea
let me think.* ; let me (?:check|read|see|look).* ; i need to think.* ; i will think.* ; i have to think.*
i guess ; i guess so ; i suppose ; i suppose so ; probably ; probably not ; hmm
wait a (?:second|moment|minute) ; give me (?:a|some) (?:second|moment|minute|time) ; i have a question
question ; one question ; quick question ; stop for now ; pause for now ; wait for .* ; put it on hold
not so fast ; i am not (?:quite )?(?:ready|done|finished).* ; not ready ; not quite ; not really
i need (?:some |a bit )?(?:more )?time.* ; yeah right ; i am still (?:reading|thinking|looking).*
tomorrow ; first let me .*
i (?:first )?(?:need|have) to (?:first )?(?:ask|check with) (?:my|our|the|someone|somebody) .*
warten? ; warte (?:noch|kurz|mal|bitte) ; (?:einen )?moment(?: mal| noch)? ; noch nicht ; nicht jetzt ; jetzt nicht
noch nicht jetzt ; (?:erst )?(?:spater|morgen|heute abend|nachher) ; vielleicht(?: spater)? ; ich weiss? nicht
(?:ich )?(?:bin )?(?:mir )?(?:noch )?nicht (?:ganz )?sicher ; (?:lass|lassen sie) mich .*
ich muss (?:noch|erst|zuerst) .*
attends ; attendez ; un (?:moment|instant|momento) ; pas encore ; pas maintenant ; pas tout de suite
plus tard ; demain
peut etre ; (?:je )?(?:ne )?(?:suis )?pas (?:encore )?sure? ; je (?:ne )?sais pas ; laisse(?:z)? moi .*
espera ; espere ; todavia no ; aun no ; ahora no ; no ahora ; mas tarde ; luego ; manana ; quizas? ; tal vez
(?:yo )?no estoy segur[oa] ; no lo se ; dejame .* ; tengo que .* (?:antes|primero)
"""),
    "no change": any_of(r"""
(?:there is |i have |i see )?nothing (?:else |more |further )?(?:i want |that needs |that has |needs ~
|left )?(?:to )?(?:be )?(?:change|add|amend|adjust|fix|modify|correct|edit|revise|comment)(?:d|ed)?
(?:i have |there are |i see |i need |i want )?no (?:more |further |other )*(?:change|edit|amendment|adjustment~
|correction|modification|objection|complaint|concern|issue|comment|remark|note|problem)s?(?: needed| necessary~
| required| to make| on my side| from my side| on my part)?
(?:do not|no need to|you need not|there is no need to) (?:change|modify|touch|edit|alter|adjust|amend~
|update) (?:anything|a thing|anything else|<object>)
(?:keep|leave) (?:it|this|that|everything|them) (?:as is|as it is|as they are|like that|like this|the way it is)
without (?:any )?(?:change|edit|amendment)s? ; unchanged
(?:there is )?nothing (?:i would|i want to|i need to|i would like to) change
i (?:would not|do not want to|do not need to|do not have to) change (?:anything|a thing|it|this)
i do not (?:need|want|have|see) any (?:more )?(?:change|edit|correction|objection|problem|issue)s?
"""),
    "fresh": any_of(r"""
(?:start|begin|go)(?: it| this| again| everything)?(?: over| fresh| anew| new| afresh~
| all over)(?: again)?(?: (?:from scratch|with|on|about).*)?
(?:start |begin |do it |redo it |redo |restart |all )?(?:again )?from (?:scratch|the beginning~
|the very beginning|zero|the start)
(?:a |make a |i want a |do a )?(?:brand )?(?:fresh|clean) (?:start|run|pipeline|research|one)(?: (?:on|with~
|about|for) .*)?
clean slate
(?:a |start a |begin a |do a |run a |start |i want a |create a )?(?:brand )?new (?:pipeline|research|query|run~
|one)(?: (?:on|with|about|for) .*)?
brand new ; start again ; restart ; restart it ; restart everything ; restart <run>
forget (?:about )?(?:the |my |our )?(?:previous|old|last) (?:research|run|one|pipeline|attempt|work)
discard (?:the |my |our )?(?:previous|old|last) (?:research|run|one|pipeline|attempt|work) ; von vorne
von vorn ; neu anfangen ; tout recommencer ; recommencer ; empezar de nuevo ; start new
"""),
    "yes": any_of(r"""
yes ; yeah ; yep ; yup ; sure ; sure thing ; okay ; alright ; alrighty ; all right ; roger ; roger that ; okay doki
okay dokie ; y ; of course ; absolutely
definitely ; certainly ; by all means ; yes sir ; for sure ; please do ; fine ; correct ; that is correct
right ; that is right ; exactly ; confirm ; confirmed ; i confirm ; i confirm it ; i am sure ; yes i am sure
affirmative ; good ; yes i do ; i do ; agree ; agreed ; i agree ; (?:i )?(?:totally|completely|fully) agree ; 100 %
very well ; indeed ; ja ; jawohl ; oui ; si
claro ; daccord ; bien sur ; vale ; de acuerdo ; ja gerne ; gerne ; natuerlich ; naturlich ; in ordnung
einverstanden ; yes indeed ; sounds like a plan
"""),
    "no": any_of(r"""
no ; nope ; nah ; n ; no way ; absolutely not ; definitely not ; certainly not ; of course not ; no sir
i do not ; please do not ; negative ; never ; no never ; i think not ; do not ; nein ; non ; nee ; nein danke
non merci ; no gracias ; not at all ; hell no ; i said no ; no i do not
"""),
    "go ahead": any_of(r"""
go ahead ; go ahead with it ; do it ; do that ; do so ; go ; go for it ; make it so ; make it happen ; ship it
run it ; (?:we are |it is |i am |you are )?(?:all )?good to go ; give it a go ; take it from here ; you may ; you can
go right ahead ; be my guest ; fire away ; you have my (?:approval|permission|okay|blessing)
i give (?:you )?(?:my|the) (?:approval|permission|okay|go ahead|blessing) ; permission granted ; green light
hit it ; knock yourself out ; vas y ; allez y ; allez ; adelante ; los ; los geht's ; mach es ; mach das ; dale
it is a go ; off you go ; go (?:ahead )?with <object>
"""),
    "go": any_of(r"""
(?:proceed|continue|carry on|move on|go on|press on|keep going|keep on going|push on|onwards?|advance~
|move ahead|move forward|go forward|resume|continue on)(?: (?:(?:with|to|on to|onto|on|from|in|at) )?<object>)?
(?:proceed|continue|go on) without (?:any )?changes ; (?:proceed|go|continue) directly
(?:start|begin|run|execute|implement|launch|kick off|perform) (?:with )?<object> ; start ; begin ; next
next (?:step|stage|one|phase) ; (?:go|move) (?:on )?to (?:the )?next(?: step| stage| one| phase)?
keep (?:it )?going ; get (?:going|started|on with it) ; keep at it ; keep it up
(?:keep|continue) (?:on )?(?:working|running) ; on we go
let us go ; let us roll ; weiter ; mach weiter ; mach bitte weiter ; weitermachen ; fortfahren ; fahre fort
weiter so ; weiter geht's ; fahren sie fort ; continuer ; continuez ; poursuivre ; poursuivez ; on continue
continua ; continuar ; sigue ; sigue adelante ; siga ; prosigue ; continue comme ca
"""),
    "approve": any_of(r"""
(?:(?:it|that|this|everything|all|<object>)(?: all)? )?(?:looks?|sounds?|seems?)<very> <fine>(?: to me| to go~
| enough| as is)?
(?:it|that|this|everything|all|<object>)(?: all)? (?:is|are)<very> <fine>(?: to me| to go| enough| as is)?
lgtm ; perfect ; excellent ; great ; approve ; approved ; accept ; accepted ; i approve ; i accept
(?:very|really|pretty) (?:good|nice|well done)
(?:i )?(?:approve|accept|confirm|sign off on|agree with|agree to|like) <object>
(?:(?:i am|we are) )?(?:happy|fine|okay|good|satisfied|content) with <object>
(?:that |this |it )?works(?: for me)? ; all good ; all fine ; all okay ; good enough ; ready
(?:i am|we are)(?: all)? (?:happy|satisfied|good|fine|okay|ready|set)
(?:that|this|it) is (?:exactly |just |precisely )?what i (?:want|wanted|need|needed|had in mind|asked for|meant)
fine by me ; fine with me ; okay with me ; okay by me ; good for me ; i am in ; (?:i am|we are) on board
(?:good|great|nice) (?:plan|idea)
(?:it|this|that|everything)(?: all)? checks out ; consider it approved
you have my vote ; thumbs up ; no complaints ; passt ; passt so ; sieht gut aus ; alles gut ; parfait ; perfecto
c'est bon ; esta bien ; bien ; gut ; super
"""),
    "stop pipeline": any_of(r"""
(?:exit|stop|cancel|skip|leave|abandon|quit|forget|drop|abort|end|close|get out of|break out of~
|step out of) <pipeline>
"""),
    "stop": any_of(r"""
cancel ; abort ; stop ; quit ; terminate ; abandon ; cancelled ; abort mission ; drop <run>
stop (?:running|working)(?: on (?:it|this))?
i am (?:cancelling|canceling|aborting|stopping)(?: (?:it|this|now|<run>))?
quit (?:this|everything|now|<run>)
(?:cancel|abort|stop|terminate|abandon|end|kill|scrap|discard|call off) (?:it|this|everything|all~
|all of it|all of this|it all|now|<run>)
(?:call|break) (?:it|this|<run>) off ; (?:i|we) want (?:it|this|<run>) (?:cancelled|canceled|stopped|aborted)
abbrechen ; brich ab ; brechen sie ab ; abbruch ; annuler ; annulez ; annule ; arreter ; arretez ; arrete
cancelar ; cancela ; parar ; detener
"""),
    "leave": any_of(r"""
break out ; exit ; leave ; get out ; i am leaving ; i am out ; let me out ; i want out ; get me out of here
close it ; close this ; leave (?:it|this) for now
(?:exit|leave|break out(?: of)?|get out(?: of)?|step out(?: of)?|back out(?: of)?|get me out of|take me out of~
|break away from) (?:here|this|<run>|<pipeline>)
(?:go |get |take me )?back to (?:the )?(?:normal |ordinary )?(?:chat|chatting|conversation)
return to (?:the )?(?:chat|conversation) ; just chat ; chat with me
"""),
    "elsewhere": any_of(r"""
(?:do|ask|ask you|ask about|discuss|talk about|talk to you about|try|work on|look at|tell you|have|chat about~
|know|switch to|move to|move on to|go on to|there is|here is|i have|i have got|what about|how about~
|on to|now for|try) ?(?:something (?:completely |totally |entirely )?~
(?:else|different|unrelated)|another (?:topic|subject~
|matter)|a (?:completely |totally )?different (?:topic|subject|matter))
something else ; something different ; something unrelated ; unrelated
something (?:completely|totally|entirely) (?:different|else)
(?:i have |i have got |here is |here comes |this is |it is |ask |ask you |there is |i would have )?(?:a |an ~
|one |another )?(?:quick |short )?(?:completely |totally |entirely |quite )?(?:new|different|unrelated|separate~
|off topic) (?:question|topic|subject|matter|request|thing)s?(?: for you| to ask)?
(?:i have |i have got )?another (?:question|topic|subject)(?: for you)? ; off topic ; on another note
on a different note
(?:change|switch|change to|switch to) (?:the |to )?(?:a )?(?:new |different |another )?(?:topic|subject)s?
change of (?:topic|subject) ; (?:ein )?anderes thema ; (?:ich habe )?(?:eine )?(?:neue|andere) frage
themawechsel ; etwas anderes ; (?:j'ai )?(?:une )?autre question ; (?:un )?autre sujet ; autre chose
(?:tengo )?otra pregunta ; otro tema ; otra cosa
"""),
    "retract": any_of(r"""
never mind(?: that| this| it| all this| all that| all of this)?
forget (?:it|this|that|all that|all this|about it|about this|about that|it all)
i (?:have )?changed my mind(?: about (?:it|this|that|all this))? ; change of heart ; i take it back
let us forget (?:it|about it) ; vergiss es ; laisse tomber ; olvidalo
"""),
    "stay": any_of(r"""
stay ; remain ; stay here ; stay in (?:it|this|here) ; (?:stay|remain) (?:in|with|on) <object> ; go back
(?:go |get |return |let us get |take me )?back to (?:it|this|where we were|work|<object>)
return ; stick with it ; (?:return|go) to <object> ; stick with <object> ; keep me here ; stick around ; bleiben
bleib ; hier bleiben ; rester ; quedarse
"""),
    "not leave": any_of(r"""
forget i said that ; forget what i said ; forget i asked ; ignore that ; ignore my last message
ignore what i said
"""),
    "back": any_of(r"""
(?:(?:pick|take) (?:it |this |things )?(?:back )?up |continue |resume |start |go on |carry on ~
|proceed )?(?:again )?(?:from )?where (?:we|i|you|it) (?:had |have )?(?:left off|stopped|were|was|ended|left)
pick (?:it |this )?(?:back )?up(?: again)?(?: (?:with|from|at) <object>)?
(?:the )?(?:old|existing|previous|left|last) (?:run|one|pipeline)
(?:resume|continue|reopen|finish|pick up)(?: with)? (?:the )?(?:old|existing|previous|left|last) (?:run|one~
|pipeline|research)
(?:at |from |to )?(?:stage|step|phase) \d+ ; finish <object> ; reprendre ; reprends ; fortsetzen ; reanudar
go back to where we were
"""),
    "reason": any_of(r"""
i (?:no longer|do not) (?:need|want) (?:it|this|that)(?: any ?more| any longer)? ; this is going nowhere
(?:this|it|that) is (?:all )?(?:useless|pointless|no use|wrong|bad|a mess|nonsense|broken|rubbish|a mistake|terrible)
(?:(?:this|it|that) is )?not what i (?:want|wanted|asked for|meant)
wrong (?:question|topic|run|file|document|pipeline|input)
i made a mistake ; my mistake ; i have seen enough ; enough ; that is enough ; enough is enough
i am done ; (?:it|this) is not worth it ; (?:it is )?too expensive ; (?:it|this) takes too long ; i have no time
"""),
}
"""What a whole clause can say. The order counts: the first that matches is it."""
