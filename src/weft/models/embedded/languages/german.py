"""German. Every noun has a capital, so a capital alone marks no name; but it does mark what can be a subject."""

from __future__ import annotations

from typing import Final

from weft.models.embedded.languages.language import Language, Role, marks, words

_ROLES: Final[dict[Role, tuple[str, ...]]] = {
    "contrast": marks("""
        aber, doch, jedoch, dennoch, trotzdem, allerdings, obwohl, obgleich, während, hingegen, dagegen,
        sondern, im gegensatz, andererseits, gleichwohl, statt, anstatt, trotz, nur, dabei, ausgerechnet"""),
    "cause": marks("""
        weil, denn, deshalb, daher, darum, deswegen, folglich, aufgrund, wegen, dank, führt zu, führte zu,
        somit, also, der grund, sodass, so dass, infolge"""),
    "example": marks("zum beispiel, beispielsweise, etwa, z.b, wie zum beispiel"),
    "close": marks("""
        schließlich, letztlich, am ende, kurzum, insgesamt, zusammenfassend, fazit, alles in allem, unterm
        strich, was bleibt"""),
    "claim": marks("""
        ich glaube, ich denke, ich finde, meiner meinung, klar ist, in wahrheit, entscheidend, wichtig, am
        wichtigsten, endlich, es wird zeit, eigentlich"""),
    "advice": marks("""
        sollte, sollten, muss, müssen, müsste, darf nicht, dürfen nicht, empfiehlt, empfehlen, am besten, achten
        sie, vermeiden, braucht, notwendig, unbedingt"""),
    "problem": marks("""
        problem, probleme, risiko, risiken, gefahr, gefahren, scheitert, scheiterte, krise, mangel, fehlt,
        fehlen, schwierig, verlust, verluste, verlor, fehler, warnung, konflikt, schaden, schäden, leider,
        sorge, sorgen, angst, streit, kosten"""),
    "change": marks("""
        nicht mehr, früher, seither, seitdem, wurde zu, wuchs, wächst, stieg, steigt, sank, sinkt, fiel, fällt,
        verdoppelt, verdoppelte, halbiert, halbierte, verändert, veränderte, ersetzt, zum ersten mal, erstmals,
        inzwischen, mittlerweile, begann"""),
    "measure": marks("""
        mehr als, weniger als, verglichen mit, im vergleich, doppelt, dreimal, höher als, niedriger als, größer
        als, kleiner als, besser als, hälfte, ein drittel, durchschnittlich, im schnitt, prozent, mehrheit"""),
    "scene": marks("""
        eines tages, eines morgens, eines abends, an jenem, ich erinnere mich, als ich, als sie, als er, vor
        jahren, damals, im alter von, wurde geboren, aufgewachsen, erzählt, erzählte, saß, stand, sah, ging,
        jeden morgen"""),
    "unknown": marks("""
        unbekannt, niemand weiß, weiß niemand, unklar, rätsel, offen ist, ist offen, bleibt offen, die frage
        ist, fraglich, ungewiss, wissen wir nicht"""),
    "surprise": marks("überraschend, überrascht, erstaunlich, geheimnis, unerwartet, seltsam"),
}

GERMAN: Final = Language(
    code="de",
    cased=False,
    function=words("""
        ab aber alle allem allen aller alles als also am an andere anderem anderen anderer anderes auch auf aus
        außer außerdem bei beide beiden beim bereits bevor bin bis bist da dabei dadurch dafür dagegen daher
        damit danach daran darauf daraus darin darüber darum das dass dasselbe davon davor dazu dein deine dem
        den denen denn dennoch der deren des deshalb dessen die dies diese diesem diesen dieser dieses doch dort
        du durch dürfen eben ein eine einem einen einer eines einige einigen einiger einmal er erst es etwa
        etwas euch euer für ganz gar gegen gegenüber gern gibt habe haben hat hatte hatten hätte hätten hier hin
        hinter ich ihm ihn ihnen ihr ihre ihrem ihren ihrer ihres im immer in indem ins ist ja je jede jedem
        jeden jeder jedes jedoch jemand jetzt kann kein keine keinem keinen keiner können könnte konnte lassen
        man manche mehr mein meine mich mir mit muss müssen nach nachdem neben nicht nichts nie noch nun nur ob
        obwohl oder ohne schon sehr sein seine seinem seinen seiner seit selbst sich sie sind so sogar solche
        soll sollen sollte sollten sondern sonst soweit statt trotz über um und uns unser unsere unter viel
        viele vielen vom von vor während wann war waren warum was weder wegen weil weiter welche welcher welches
        wem wen wenig wenn wer werde werden wessen wie wieder wir wird wo wobei wohl wollen wollte worden wurde
        wurden würde würden zu zum zur zwar zwischen"""),
    weak=words("""
        jahr jahre jahren tag tage tagen woche wochen monat monate monaten zeit mal teil teile beispiel art
        weise zahl menge fall fälle fällen seite seiten stunde stunden minute minuten uhr heute morgen abend
        gestern damals neu neue neuen neuer neues groß große großen großer klein kleine kleinen gut gute guten
        besser beste lang lange langen hoch hohe hohen erste ersten erster zweite zweiten dritte letzten letzte
        nächsten ende anfang grund ding dinge sache sachen frage fragen punkt punkte rund million millionen
        milliarde milliarden prozent hundert tausend zwei drei vier fünf sechs sieben acht neun zehn zwölf macht
        machen gemacht kommt kommen geht gehen steht stehen liegt sagt sagen sagte bleibt bleiben zeigt zeigen
        braucht brauchen heißt leute mensch einzige einzigen"""),
    verbs=words("""
        ist sind war waren wird werden wurde wurden hat haben hatte hatten kann können konnte konnten muss
        müssen musste soll sollen sollte will wollen wollte darf dürfen gibt gab geht ging steht stand liegt lag
        kommt kam bleibt blieb macht machte zeigt zeigte sagt sagte sieht sah weiß wusste braucht brauchte fehlt
        fehlte führt führte fällt fiel steigt stieg sinkt sank wächst wuchs nimmt nahm hält hielt findet fand
        beginnt begann lebt lebte heißt hieß arbeitet arbeitete kostet kostete gehört gilt galt lässt ließ
        bringt brachte denkt dachte glaubt glaubte zahlt zahlte kauft kaufte verliert verlor gewinnt gewann
        schließt schloss öffnet öffnete spricht sprach schreibt schrieb liest las würde würden könnte könnten
        müsste hätte wäre trägt trug setzt setzte stellt stellte"""),
    before_nouns=words("""
        der die das den dem des ein eine einen einem einer eines kein keine keinen dieser diese dieses diesen
        diesem mein meine sein seine ihr ihre unser unsere im am vom zum zur beim ins in an auf mit von für über
        unter nach bei aus durch gegen ohne um zwischen"""),
    before_verbs=words("ich du er sie es wir ihr man nicht wer zu"),
    leaning=words("""
        er sie es dies diese dieser dieses das damit dadurch dafür dagegen daher darum deshalb dabei davon dazu
        doch aber und oder denn auch so dann dort hier sein seine ihr ihre beide andere solche"""),
    pronouns=words("sie es er ihn ihm ihnen dies"),
    first_person=words("ich mein meine meinen mir mich wir uns unser unsere"),
    openers=marks("aber, doch, und, denn, also, allerdings, jedoch, außerdem, zudem, dennoch, schließlich, kurzum"),
    asides=marks("der, die, das, dem, den, dessen, deren, welche, welcher, welches, wo, wobei, darunter, etwa"),
    limits=words("""
        aber doch jedoch nur nicht kein keine wenn falls außer ohne obwohl bis ob nie niemals sofern sondern"""),
    abbreviations=words("""
        dr prof hr fr frl nr st bzw ca usw etc z.b d.h u.a o.ä vgl evtl ggf inkl zzgl abs art bd hrsg jan feb
        mär apr jun jul aug sep sept okt nov dez mio mrd str tel s z b d h u a geb gest v.a i.d.r"""),
    roles=_ROLES,
    because=("weil", "denn"),
    but=("aber", "doch", "sondern"),
    copulas=words("ist sind war waren heißt bedeutet"),
    pointers=marks("""
        siehe, für weitere, weitere informationen, näheres, mehr dazu, willkommen, vielen dank, danke, hallo, liebe,
        sehr geehrte, mit freundlichen grüßen, guten tag, guten morgen"""),
    saying=words("""
        sagt sagte sagen erklärt erklärte erzählt erzählte fragt fragte antwortet antwortete meint meinte
        schreibt schrieb betont betonte berichtet berichtete warnt warnte erinnert glaubt fügt ergänzt ergänzte
        kritisiert räumt"""),
    titles=words("""
        herr frau dr prof professor professorin präsident präsidentin minister ministerin bürgermeister
        bürgermeisterin direktor direktorin chef chefin doktor kanzler kanzlerin historiker historikerin
        biologin biologe försterin förster sprecher sprecherin ingenieur ingenieurin lehrer lehrerin"""),
    bodies=words("""
        universität institut hochschule schule ministerium amt behörde kommission rat gericht bank stiftung
        verein verband gesellschaft gewerkschaft partei gmbh ag bundesamt museum krankenhaus labor akademie
        bundesbank"""),
    places=words("in aus bei nach"),
    months=words("""
        januar februar märz april mai juni juli august september oktober november dezember montag dienstag
        mittwoch donnerstag freitag samstag sonntag"""),
    scales=words("""
        prozent hundert tausend million millionen milliarde milliarden billion billionen dutzend mal fach"""),
    numerals=words("""
        zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn fünfzehn sechzehn siebzehn
        achtzehn neunzehn zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig hundert tausend hälfte
        drittel viertel dutzend"""),
    references=words("""
        kapitel abschnitt seite seiten nummer nr version absatz artikel tabelle abbildung teil band zeile"""),
    positive=words("""
        gut besser beste erfolg erfolge erfolgreich gelungen gelingt freude freut glücklich glück schön liebe
        liebt hoffnung gewinn gewinne gewonnen wirksam zuverlässig hilft hilfreich gesund stark wachstum blüht
        stolz lob gelobt begeistert angenehm vertrauen wertvoll willkommen fortschritt sicher sicherer dankbar
        wunderbar großartig ermutigend gerettet erholt erholung lebendig zufrieden vorteil vorteile bewährt"""),
    negative=words("""
        schlecht schlechter schlimm schlimmer scheitert scheiterte gescheitert verlust verluste verloren
        verliert krise krisen katastrophe gefahr gefährlich schaden schäden schadet schmerz leidet leiden
        traurig angst ängste wut hass tod tote toten stirbt starb gestorben krieg kriege angriff gewalt opfer
        drohung bedroht zusammenbruch rückgang mangel armut hunger dürre schulden pleite betrug lüge skandal
        problem probleme kaputt zerstört zerstörung giftig krank krankheit einsam verzweifelt schwach sorge
        sorgen falsch hässlich ungerecht unsicher nutzlos verschwendet last geschlossen schließung streit
        vernachlässigt absterben abgestorben"""),
    negations=words("nicht kein keine keinen keiner nie niemals ohne kaum weder"),
)
