"""Italian."""

from __future__ import annotations

from typing import Final

from weft.models.embedded.languages.language import Language, marks, words

ITALIAN: Final = Language(
    code="it",
    function=words("""
        a abbiamo ad ai al alla alle allo allora altra altre altri altro anche ancora anni avere aveva avevano c
        che chi ci ciò come con contro così cui d da dagli dai dal dalla dalle dallo degli dei del dell della
        delle dello dentro di dopo dove dunque durante e è ed era erano essere fa fanno fino fra fu furono già
        gli ha hanno ho i il in infatti invece io l la là le lei li lo loro lui ma mai me meno mentre mi mia mio
        molti molto ne nè né negli nei nel nell nella nelle nello nessun nessuna nessuno niente qualcosa
        qualcuno ognuno vuole vogliono deve devono noi non nostra nostro nulla o ogni oltre oppure per perché
        perciò però più po poco poi possono prima proprio può qua quale quali qualche quando quanto quasi quella
        quelle quelli quello questa queste questi questo qui quindi s sarà se sei sempre senza si sia siamo
        siano sono sopra sotto stata stati stato su sua sue sugli sui sul sulla sulle suo suoi tanto te ti tra
        troppo tu tutta tutte tutti tutto un una uno va verso vi voi"""),
    weak=words("""
        anno giorno giorni settimana mese mesi tempo volta volte parte parti esempio tipo modo numero caso casi
        lato ora ore minuto minuti mattina sera ieri domani nuovo nuova nuovi nuove grande grandi piccolo
        piccola buono buona migliore lungo lunga alto alta primo prima secondo seconda terzo ultimo ultima fine
        inizio ragione cosa cose domanda punto milione milioni mille cento due tre quattro cinque sei sette otto
        nove dieci gente dice dire detto deve devono fare fatto resta viene certo certa"""),
    verbs=words("""
        è sono era erano fu furono sarà ha hanno aveva avevano può possono deve devono va vanno fa fanno dice
        dicono resta restano viene vengono c'è costa costano manca mancano sa sanno vuole vogliono dà diventa
        diventò cresce crebbe cala sale perde perse comincia esiste sembra vive vivono serve permette mostra"""),
    before_nouns=words("""
        il lo la i gli le l un uno una del dello della dei degli delle al alla ai nel nella nei di da in con su
        per tra fra questo questa questi quel quella suo sua ogni"""),
    before_verbs=words("io tu lui lei noi voi loro non si che chi mi ti ci vi"),
    joining=words("di del della dei degli delle d"),
    leaning=words("""
        lui lei loro esso essa questo questa questi ciò quello così quindi ma e o però anche poi allora lì là
        qui suo sua tale entrambi"""),
    pronouns=words("lui lei loro esso ciò"),
    first_person=words("io mio mia miei noi nostro nostra mi ci"),
    openers=marks("ma, e, però, quindi, dunque, inoltre, tuttavia, infatti, così, allora, infine, insomma"),
    asides=marks("che, dove, cui, il quale, la quale, tra cui, e"),
    limits=words("ma non se solo soltanto senza mai tranne salvo finché benché però nessun nessuna"),
    abbreviations=words("sig dott prof avv ing sigg sra n pag pagg vol fig art ecc es a.c d.c dr"),
    roles={
        "contrast": marks("""
            ma, però, tuttavia, eppure, invece, mentre, sebbene, benché, nonostante, al contrario, anziché"""),
        "cause": marks("""
            perché, poiché, quindi, perciò, dunque, a causa di, grazie a, dato che, di conseguenza, per questo"""),
        "example": marks("per esempio, ad esempio, come ad esempio"),
        "close": marks("infine, in conclusione, insomma, alla fine, in sintesi"),
        "claim": marks("credo che, penso che, secondo me, è chiaro, in verità, è ora di"),
        "advice": marks("deve, devono, dovrebbe, dovrebbero, bisogna, occorre, conviene, evitare, necessario"),
        "problem": marks("""
            problema, problemi, rischio, rischi, pericolo, crisi, manca, perdita, perdite, errore, danno"""),
        "change": marks("""
            non più, un tempo, da allora, è diventato, è diventata, cresce, aumentato, calato, per la prima
            volta"""),
        "measure": marks("""
            più di, meno di, rispetto a, il doppio, la metà, un terzo, in media, per cento, maggioranza"""),
        "scene": marks("""
            un giorno, una mattina, una sera, quel giorno, ricordo, quando ero, anni fa, è nato, è nata,
            racconta"""),
        "unknown": marks("nessuno sa, non si sa, mistero, resta da vedere, la domanda è, incerto, senza risposta"),
        "surprise": marks("sorprendente, segreto, inatteso"),
    },
    because=("perché", "poiché"),
    but=("ma", "mentre", "però"),
    copulas=words("è sono era significa"),
    pointers=marks("vedi, per maggiori, consultare"),
    saying=words("""
        dice disse ha-detto spiega spiegò racconta raccontò chiede chiese risponde rispose afferma affermò
        aggiunge aggiunse scrive scrisse sostiene ricorda avverte"""),
    titles=words("""
        signor signora sig dott dottor dottoressa professor professoressa presidente ministro ministra sindaco"""),
    bodies=words("""
        università istituto scuola ministero agenzia comitato consiglio tribunale banca fondazione associazione"""),
    places=words("a in da di"),
    months=words("gennaio febbraio marzo aprile maggio giugno luglio agosto settembre ottobre novembre dicembre"),
    scales=words("cento mille mila milione milioni miliardo miliardi dozzina volte"),
    numerals=words("""
        due tre quattro cinque sei sette otto nove dieci undici dodici tredici venti trenta quaranta cinquanta
        sessanta settanta ottanta novanta cento mille metà terzo doppio"""),
    references=words("sezione capitolo pagina pagine figura tabella versione articolo numero passo parte riga"),
    positive=words("""
        buono buona bene migliore eccellente successo riuscito felice gioia amore bello bella speranza vinto
        guadagno efficace facile utile aiuta sano forte crescita orgoglio brillante piacere progresso sicuro
        fiducia prezioso vivo"""),
    negative=words("""
        male cattivo peggio peggiore fallimento fallito perdita perdite perso crisi disastro pericolo danno
        danni dolore soffre triste paura rabbia odio morte morti morto guerra attacco violenza vittima vittime
        minaccia crollo calo povertà fame siccità debito debiti truffa problema problemi rotto distrutto tossico
        malato malattia debole ingiusto inutile chiuso chiusura abbandonato"""),
    negations=words("non mai senza né nessun nessuna niente nulla"),
)
