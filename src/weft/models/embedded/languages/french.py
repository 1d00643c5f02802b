"""French."""

from __future__ import annotations

from typing import Final

from weft.models.embedded.languages.language import Language, Role, marks, words

_ROLES: Final[dict[Role, tuple[str, ...]]] = {
    "contrast": marks("""
        mais, cependant, pourtant, toutefois, néanmoins, or, alors que, tandis que, malgré, bien que, en
        revanche, au contraire, au lieu de, contrairement à, même si, quand même"""),
    "cause": marks("""
        parce que, parce qu, car, donc, ainsi, par conséquent, c'est pourquoi, grâce à, à cause de, en raison
        de, puisque, entraîne, entraîné, provoque, provoqué, la raison, de sorte que, afin de"""),
    "example": marks("par exemple, notamment, tel que, telle que, tels que, telles que, ainsi que"),
    "close": marks("""
        enfin, finalement, en conclusion, en somme, bref, au bout du compte, en définitive, au fond, reste"""),
    "claim": marks("""
        je pense, je crois, à mon avis, il est clair, en vérité, essentiel, essentielle, le plus important, il
        est temps, il faut, seul, seule"""),
    "advice": marks("""
        il faut, doit, doivent, devrait, devraient, il convient, évitez, veillez, recommande, recommandé,
        nécessaire, n'oubliez pas, pensez à, mieux vaut"""),
    "problem": marks("""
        problème, problèmes, risque, risques, danger, dangers, échec, échoue, échoué, crise, menace, menaces,
        manque, pénurie, difficile, perte, pertes, perdu, erreur, erreurs, conflit, dégâts, malheureusement,
        crainte, craintes, peur, coût, coûts"""),
    "change": marks("""
        ne plus, n'est plus, autrefois, jadis, depuis, est devenu, est devenue, sont devenus, augmenté,
        augmente, baissé, baisse, doublé, double, diminué, diminue, remplacé, pour la première fois, désormais,
        changé, change"""),
    "measure": marks("""
        plus de, moins de, comparé à, par rapport à, deux fois, trois fois, la moitié, un tiers, en moyenne,
        pour cent, majorité, meilleur que, autant que"""),
    "scene": marks("""
        un jour, un matin, un soir, ce jour-là, ce matin-là, je me souviens, quand j'étais, il y a des années, à
        l'âge de, est né, est née, a grandi, raconte, se souvient, chaque matin, était assis, regardait"""),
    "unknown": marks("""
        inconnu, inconnue, personne ne sait, on ignore, mystère, reste à savoir, la question est, reste ouverte,
        reste ouvert, incertain, énigme"""),
    "surprise": marks("étonnant, surprenant, surprise, surpris, secret, inattendu"),
}

FRENCH: Final = Language(
    code="fr",
    function=words("""
        a à afin ai ainsi alors après as au aucun aucune aujourd'hui auquel aura aussi autre autres aux avaient
        avais avait avant avec avez avoir avons ayant bien c'est car ce ceci cela celle celles celui cependant
        ces cet cette ceux chaque chez ci comme comment contre d dans de déjà depuis des dès desquels donc dont
        du elle elles en encore enfin entre es est et étaient était étant été être eu eux fait faire faut fois
        font furent fut ici il ils j jamais je jusque l la là laquelle le lequel les lesquels leur leurs lors
        lorsque lui m ma mais malgré me même mêmes mes mieux mis moi moins mon n ne ni non nos notre nous on ont
        or ou où par parce parmi pas pendant peu peut peuvent plus plusieurs plutôt pour pourquoi pourtant près
        presque puis puisque qu quand que quel quelle quelles quels quelque quelques qui quoi s sa sans se sera
        seront ses si sinon soi soit sommes son sont sous souvent suis sur t ta tandis tant te tel telle telles
        tels tes toi ton toujours tous tout toute toutefois toutes très trop tu un une va vers voici voilà vos
        votre vous vu y"""),
    weak=words("""
        moyenne fait effet revanche faute an ans année années jour jours semaine semaines mois temps fois partie
        parties exemple sorte façon manière nombre cas côté heure heures minute minutes matin soir hier demain
        nouveau nouvelle nouveaux nouvelles grand grande grands grandes petit petite petits petites bon bonne
        meilleur meilleure long longue haut haute premier première premiers deuxième troisième dernier dernière
        derniers fin début raison chose choses question point points million millions milliard milliards cent
        mille deux trois quatre cinq six sept huit neuf dix douze gens seul seule dit dire doit doivent devient
        rester reste met mettre prend prendre vient venir voit voir veut vouloir simple certain certaine
        certains certaines encore ailleurs beaucoup"""),
    verbs=words("""
        est sont était étaient sera seront fut furent a ont avait avaient aura fait font faisait peut peuvent
        pouvait doit doivent devait va vont allait vient viennent venait dit disent disait voit voient prend
        prennent met mettent reste restent devient deviennent coûte coûtent vaut valent faut manque manquent
        sait savent veut veulent tient tiennent donne donnent montre montrent permet permettent trouve trouvent
        perd perdent baisse augmente commence commencent existe existent semble semblent ressemble vit vivent
        croit croient"""),
    before_nouns=words("""
        le la les l un une des du de d au aux ce cet cette ces mon ma mes son sa ses notre nos votre vos leur
        leurs chaque dans en sur sous par pour avec sans entre chez vers contre"""),
    before_verbs=words("je j tu il elle on nous vous ils elles ne n se s qui"),
    joining=words("de du des d l la à"),
    leaning=words("""
        il elle ils elles ce cela ceci cette ces celui celle ceux ainsi donc mais et ou car or pourtant
        cependant alors aussi puis là leur leurs son sa ses c'est c"""),
    pronouns=words("elle ils elles lui cela celui celle ceux"),
    first_person=words("je j moi mon ma mes nous notre nos me m"),
    openers=marks("""
        mais, et, or, donc, ainsi, cependant, pourtant, toutefois, en effet, de plus, par ailleurs, enfin,
        alors, car, bref, en revanche, bien sûr, par conséquent"""),
    asides=marks("qui, dont, où, lequel, laquelle, notamment, ce qui, et"),
    limits=words("mais pas ne n sauf si seulement sans jamais rien aucun aucune bien malgré quand avant"),
    abbreviations=words("""
        m mme mlle mm dr pr prof st ste no n° vol p pp fig art av bd etc cf env éd janv févr juil sept oct"""),
    roles=_ROLES,
    because=("parce que", "car"),
    but=("mais", "alors que", "tandis que"),
    copulas=words("est sont était signifie désigne"),
    pointers=marks(
        "voir, pour plus, consultez, pour en savoir, bienvenue, merci, bonjour, cher, chère, chers, cordialement"
    ),
    saying=words("""
        dit disait explique expliquait expliqué raconte racontait demande répond répondu affirme affirmait
        affirmé ajoute ajouté écrit estime estimait souligne souligné rappelle rappelé reconnaît prévient assure
        confie déclare déclaré"""),
    titles=words("""
        m mme mlle monsieur madame docteur dr professeur président présidente ministre maire directeur
        directrice historien historienne biologiste ingénieur ingénieure chercheur chercheuse général capitaine
        juge"""),
    bodies=words("""
        université institut école collège ministère agence comité commission conseil cour banque fondation
        association société syndicat parti office bureau musée hôpital laboratoire fédération centre académie
        parlement sénat"""),
    places=words("à en au aux de depuis"),
    months=words("""
        janvier février mars avril mai juin juillet août septembre octobre novembre décembre lundi mardi
        mercredi jeudi vendredi samedi dimanche"""),
    scales=words("cent mille million millions milliard milliards douzaine fois pourcent"),
    numerals=words("""
        deux trois quatre cinq six sept huit neuf dix onze douze treize quatorze quinze seize vingt trente
        quarante cinquante soixante cent cents mille moitié tiers quart dizaine centaine douzaine"""),
    references=words("""
        section chapitre page pages figure tableau version article numéro étape partie paragraphe ligne"""),
    positive=words("""
        bon bonne meilleur meilleure excellent réussi réussite succès réussit heureux heureuse joie amour aime
        beau belle espoir gagné gain gains efficace fiable facile utile aide sain sains fort forte croissance
        fier fière généreux brillant plaisir ravi remarquable progrès solide sûr sûre confiance précieux
        bienvenue prometteur fidèle vivant vivante sauvé guéri lumière sourire"""),
    negative=words("""
        mauvais mauvaise pire échec échecs échoue échoué perte pertes perdu perdue crise crises catastrophe
        danger dangers dangereux dommage dégâts douleur souffre souffrance triste peur craint colère haine mort
        morts mourir guerre attaque violence victime victimes menace menaces menacé effondrement déclin baisse
        pénurie pauvreté faim sécheresse dette dettes faillite fraude mensonge scandale problème problèmes cassé
        détruit destruction toxique pollution malade maladie seul solitude désespoir faible inquiétude inquiet
        faux laid injuste inutile gaspillage abandonné fermé fermeture"""),
    negations=words("ne n pas jamais sans aucun aucune ni rien"),
)
