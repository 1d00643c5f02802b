"""Spanish."""

from __future__ import annotations

from typing import Final

from weft.models.embedded.languages.language import Language, Role, marks, words

_ROLES: Final[dict[Role, tuple[str, ...]]] = {
    "contrast": marks("""
        pero, sin embargo, aunque, no obstante, mientras que, a pesar de, en cambio, por el contrario, sino, en
        lugar de, en vez de, ahora bien, con todo, aun así"""),
    "cause": marks("""
        porque, por eso, por lo tanto, por tanto, así que, ya que, debido a, gracias a, a causa de, puesto que,
        provoca, provocó, la razón, de modo que, conduce a, para que"""),
    "example": marks("por ejemplo, como por ejemplo, tales como, en particular"),
    "close": marks("""
        en conclusión, en resumen, al final, finalmente, por último, en definitiva, en fin, a fin de cuentas"""),
    "claim": marks("""
        creo que, pienso que, en mi opinión, está claro, la verdad, esencial, lo más importante, es hora de,
        hace falta, lo que importa, imprescindible"""),
    "advice": marks("""
        debe, deben, debería, deberían, hay que, tiene que, tienen que, conviene, evite, recomienda,
        recomendamos, recomendado, necesario, es mejor, no olvide, asegúrese"""),
    "problem": marks("""
        problema, problemas, riesgo, riesgos, peligro, peligros, fracaso, fracasa, fracasó, crisis, amenaza,
        falta, escasez, difícil, pérdida, pérdidas, perdió, error, errores, conflicto, daño, daños,
        desgraciadamente, temor, miedo, coste, costo"""),
    "change": marks("""
        ya no, antes, desde entonces, se convirtió, se ha convertido, aumentó, aumenta, creció, crece, cayó,
        cae, bajó, subió, duplicó, redujo, reemplazó, por primera vez, cambió, cambia, hoy en día"""),
    "measure": marks("""
        más de, más que, menos de, menos que, comparado con, en comparación, el doble, dos veces, tres veces, la
        mitad, un tercio, en promedio, por ciento, mayoría, mejor que"""),
    "scene": marks("""
        un día, una mañana, una noche, aquel día, aquella mañana, recuerdo, cuando era, hace años, a los, nació,
        creció en, cuenta, contó, cada mañana, se sentó, miraba"""),
    "unknown": marks("""
        desconocido, nadie sabe, no se sabe, misterio, queda por ver, la pregunta es, sin respuesta, incierto,
        enigma"""),
    "surprise": marks("sorprendente, sorpresa, secreto, curiosamente, nadie había previsto, inesperado"),
}

SPANISH: Final = Language(
    code="es",
    function=words("""
        a al algo alguna algunas alguno algunos ante antes aquel aquella aquellas aquellos aquí así aún aunque
        bajo bien cada casi como cómo con contra cual cuál cuales cualquier cuando cuándo cuanto cuyo cuya da de
        del desde donde dónde dos durante e el él ella ellas ellos en entonces entre era eran eres es esa esas
        ese eso esos esta está estaba estaban estado están estar estas este esto estos estoy fue fueron ha había
        habían haber hace hacer hacia han hasta hay he hemos incluso la las le les lo los luego más me mediante
        menos mi mí mientras mis mismo misma mismos mismas mucha muchas mucho muchos muy nada ni no nos nosotros
        nuestra nuestro nuestros nuestras o os otra otras otro otros para pero poco por porque pues que qué
        quien quién quienes se sea sean según ser será si sí sido siempre sin sino sobre solo sólo son su sus
        también tampoco tan tanto te tenía tener ti tiene tienen toda todas todavía todo todos tras tu tú tus un
        una unas uno unos usted ustedes va varios vez y ya yo"""),
    weak=words("""
        embargo cambio promedio resumen conclusión suma año años día días semana semanas mes meses tiempo veces
        parte partes ejemplo tipo manera forma número caso casos lado hora horas minuto minutos mañana noche
        ayer nuevo nueva nuevos nuevas gran grande grandes pequeño pequeña pequeños bueno buena buenos mejor
        mejores largo larga alto alta primer primera primero segundo segunda tercero último última últimos final
        fin principio razón cosa cosas pregunta punto puntos millón millones mil cien ciento tres cuatro cinco
        seis siete ocho nueve diez doce gente persona personas dice decir dijo puede pueden poder debe deben
        hacer hizo queda quedan lleva llevan sigue siguen viene ver vio cierto cierta ciertos simple"""),
    verbs=words("""
        es son era eran fue fueron será serán está están estaba estaban ha han había habían hay hubo tiene
        tienen tenía tenían puede pueden podía debe deben debía va van iba hace hacen hizo hacía dice dicen dijo
        queda quedan quedó viene vienen vino ve ven vio da dan dio sabe saben quiere quieren cuesta cuestan vale
        valen falta faltan sigue siguen lleva llevan llegó llega cayó cae subió sube creció crece perdió pierde
        empezó empieza existe existen parece vive viven cree creen sirve sirven permite permiten muestra
        muestran"""),
    before_nouns=words("""
        el la los las un una unos unas del al de en con por para sin sobre entre este esta estos estas ese esa
        su sus mi mis nuestro nuestra cada otro otra según hacia desde hasta"""),
    before_verbs=words("yo tú él ella nosotros ellos ellas se no que quien me te le les nos lo"),
    joining=words("de del la las los el"),
    leaning=words("""
        él ella ellos ellas esto este esta estos estas eso ese esa aquello así entonces pero y o pues también
        tampoco allí ahí aquí su sus otro otra ambos tal"""),
    pronouns=words("él ella ellos ellas esto eso"),
    first_person=words("yo mi mis me nosotros nuestro nuestra nos"),
    openers=marks("""
        pero, y, sin embargo, además, así, entonces, por eso, por lo tanto, no obstante, en cambio, es decir, de
        hecho, por último, finalmente, claro, ahora bien, pues"""),
    asides=marks("que, quien, quienes, donde, cuyo, cuya, lo que, el cual, la cual, incluyendo, y"),
    limits=words("""
        pero no sino si salvo excepto sólo solo sin nunca aunque hasta cuando tampoco nada ningún ninguna"""),
    abbreviations=words("""
        sr sra srta dr dra prof d dña st sta núm pág págs vol fig art av etc ej p a.c d.c ee.uu ud uds"""),
    roles=_ROLES,
    because=("porque", "ya que", "puesto que"),
    but=("pero", "sino", "mientras que"),
    copulas=words("es son era significa"),
    pointers=marks("véase, ver, para más, consulte, bienvenidos, gracias, hola, estimado, estimada, atentamente"),
    saying=words("""
        dijo dice decía explicó explica contó cuenta preguntó respondió afirmó afirma añadió añade escribió
        escribe señaló señala recordó recuerda reconoció advirtió advierte aseguró asegura sostuvo sostiene
        declaró opina"""),
    titles=words("""
        señor señora sr sra don doña doctor doctora dr dra profesor profesora presidente presidenta ministro
        ministra alcalde alcaldesa director directora historiador historiadora bióloga biólogo ingeniero
        ingeniera general juez"""),
    bodies=words("""
        universidad instituto escuela colegio ministerio agencia comité comisión consejo tribunal banco
        fundación asociación sociedad sindicato partido oficina museo hospital laboratorio federación centro
        academia parlamento senado"""),
    places=words("en de desde a"),
    months=words("""
        enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre lunes martes
        miércoles jueves viernes sábado domingo"""),
    scales=words("ciento cien mil millón millones mil-millones billón billones docena veces"),
    numerals=words("""
        dos tres cuatro cinco seis siete ocho nueve diez once doce trece catorce quince veinte treinta cuarenta
        cincuenta sesenta setenta ochenta noventa cien cientos mil mitad tercio cuarto docena doble"""),
    references=words("""
        sección capítulo página páginas figura tabla versión artículo número paso parte párrafo línea"""),
    positive=words("""
        bueno buena mejor mejores excelente éxito éxitos exitoso logra logró logro feliz alegría amor ama
        hermoso hermosa bello bella esperanza ganó gana ganancia eficaz eficiente fiable fácil útil ayuda sano
        sana fuerte crecimiento orgullo orgulloso generoso brillante placer encantado notable progreso sólido
        seguro segura confianza valioso bienvenido prometedor vivo viva recuperó recuperación gracias sonrisa"""),
    negative=words("""
        malo mala mal peor peores fracaso fracasos fracasó pérdida pérdidas perdió pierde crisis desastre
        catástrofe peligro peligros peligroso daño daños dolor sufre sufrió sufrimiento triste tristeza miedo
        temor ira odio muerte muertes muerto muertos murió guerra ataque violencia víctima víctimas amenaza
        amenazas colapso declive caída escasez pobreza hambre sequía deuda deudas quiebra fraude mentira
        escándalo problema problemas roto destruyó destrucción tóxico contaminación enfermo enfermedad solo
        soledad desesperación débil preocupación falso feo injusto inútil desperdicio abandonado cerrado cierre"""),
    negations=words("no nunca jamás sin ni tampoco nada ningún ninguna"),
)
