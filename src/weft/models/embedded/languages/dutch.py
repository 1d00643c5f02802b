"""Dutch."""

from __future__ import annotations

from typing import Final

from weft.models.embedded.languages.language import Language, marks, words

DUTCH: Final = Language(
    code="nl",
    function=words("""
        aan al alle alleen alles als altijd andere ander anders bij bijna binnen boven daar daarna daarom dan
        dat de deze die dit doch door dus een eens elk elke en er even geen genoeg haar had hadden heb hebben
        heeft hem het hier hij hoe hun iemand iets ik in is ja je jij jou jouw juist kan kon konden kunnen laat
        maar meer meest men met mij mijn minder moet moeten mogen na naar naast niet niets nog nooit nu of om
        omdat ondanks onder ons onze ook op over per pas reeds samen sinds soms steeds te tegen tenzij terwijl
        toch toen tot tussen u uit uw van vanaf veel vele verder via volgens voor voordat waar waarom wanneer
        want waren was wat we wel welke werd werden wie wij wil willen worden wordt zal ze zei zeer zelf zich
        zij zijn zo zoals zonder zou zouden zowel zullen"""),
    weak=words("""
        jaar jaren dag dagen week weken maand maanden tijd keer deel delen voorbeeld soort manier aantal geval
        kant uur uren minuut minuten morgen avond gisteren nieuw nieuwe groot grote klein kleine goed goede
        beter beste lang lange hoog hoge eerste tweede derde laatste volgende einde begin reden ding dingen
        vraag punt miljoen miljard honderd duizend twee drie vier vijf zes zeven acht negen tien mensen maakt
        maken komt komen gaat gaan staat staan ligt zegt zeggen blijft blijven heet laten"""),
    verbs=words("""
        is zijn was waren wordt worden werd werden heeft hebben had hadden kan kunnen kon moet moeten moest zal
        zullen zou wil willen gaat ging staat stond ligt lag komt kwam blijft bleef maakt maakte zegt zei ziet
        zag weet wist kost kostte groeit groeide daalt daalde stijgt steeg verliest verloor begint begon leeft
        lijkt toont geeft gaf neemt nam"""),
    before_nouns=words("""
        de het een deze dit die dat mijn zijn haar hun ons onze uw elk elke geen van in op met voor door over
        onder tussen uit bij naar tegen zonder aan"""),
    before_verbs=words("ik jij je hij zij ze we wij men niet te wie"),
    joining=words("van de het"),
    leaning=words("""
        hij zij ze het dit dat deze die daarom dus maar en of want ook dan toen daar hier hun haar beide zulke"""),
    pronouns=words("hij zij ze hem"),
    first_person=words("ik mijn mij wij we ons onze"),
    openers=marks("maar, en, dus, echter, toch, bovendien, daarnaast, want, kortom, ten slotte, overigens"),
    asides=marks("die, dat, waar, wie, waaronder, waarbij, en"),
    limits=words("maar niet geen alleen als tenzij zonder nooit behalve hoewel tot mits"),
    abbreviations=words("""
        dhr mevr mw dr prof ir ing mr nr blz bijv bv enz ca o.a d.w.z m.a.w jan feb apr jun jul aug sept okt"""),
    roles={
        "contrast": marks("""
            maar, echter, toch, hoewel, terwijl, ondanks, daarentegen, in plaats van, niettemin, integendeel"""),
        "cause": marks("""
            omdat, want, daarom, dus, doordat, vanwege, dankzij, leidt tot, leidde tot, de reden, zodat"""),
        "example": marks("bijvoorbeeld, zoals"),
        "close": marks("ten slotte, uiteindelijk, kortom, al met al, tot slot"),
        "claim": marks("ik denk, ik vind, ik geloof, volgens mij, duidelijk, belangrijkste"),
        "advice": marks("moet, moeten, zou moeten, vermijd, aanbevolen, het beste, nodig, zorg ervoor, let op"),
        "problem": marks("""
            probleem, problemen, risico, gevaar, crisis, tekort, verlies, verliezen, fout, fouten, schade,
            helaas"""),
        "change": marks("""
            niet meer, vroeger, sindsdien, werd een, groeide, steeg, daalde, verdubbelde, voor het eerst,
            inmiddels"""),
        "measure": marks("""
            meer dan, minder dan, vergeleken met, dubbel, de helft, een derde, gemiddeld, procent, meerderheid"""),
        "scene": marks("""
            op een dag, op een ochtend, die dag, ik herinner, toen ik, jaren geleden, geboren, vertelt, vertelde"""),
        "unknown": marks("niemand weet, onbekend, onduidelijk, raadsel, de vraag is, onzeker"),
        "surprise": marks("verrassend, geheim, onverwacht"),
    },
    because=("omdat", "want"),
    but=("maar", "terwijl"),
    copulas=words("is zijn was betekent"),
    pointers=marks("zie, voor meer"),
    saying=words("""
        zegt zei vertelt vertelde vraagt vroeg antwoordt antwoordde schrijft schreef legt stelt stelde
        waarschuwt"""),
    titles=words("meneer mevrouw dhr mevr dr prof professor minister president burgemeester directeur"),
    bodies=words("""
        universiteit instituut school ministerie raad rechtbank bank stichting vereniging museum ziekenhuis
        partij"""),
    places=words("in uit bij naar te"),
    months=words("januari februari maart april mei juni juli augustus september oktober november december"),
    scales=words("procent honderd duizend miljoen miljard dozijn keer maal"),
    numerals=words("""
        twee drie vier vijf zes zeven acht negen tien elf twaalf twintig dertig veertig vijftig zestig zeventig
        tachtig negentig honderd duizend helft derde dubbel"""),
    references=words("hoofdstuk paragraaf pagina nummer versie artikel tabel figuur deel stap regel"),
    positive=words("""
        goed goede beter beste succes succesvol gelukt blij vreugde liefde mooi mooie hoop winst gewonnen
        effectief makkelijk nuttig helpt gezond sterk groei trots plezier vooruitgang veilig vertrouwen
        waardevol welkom dankbaar hersteld"""),
    negative=words("""
        slecht slechter slechtste mislukt mislukking verlies verloren crisis ramp gevaar gevaarlijk schade pijn
        lijdt lijden verdriet angst woede haat dood doden gestorven oorlog aanval geweld slachtoffer dreiging
        instorting daling tekort armoede honger droogte schuld schulden fraude probleem problemen kapot
        vernietigd giftig ziek ziekte zwak fout"""),
    negations=words("niet geen nooit zonder noch nauwelijks"),
)
