"""Portuguese."""

from __future__ import annotations

from typing import Final

from weft.models.embedded.languages.language import Language, marks, words

PORTUGUESE: Final = Language(
    code="pt",
    function=words("""
        a à ainda além algum alguma algumas alguns ao aos apenas após aquela aquele aqueles aquilo as às assim
        até bem cada com como contra cuja cujo da das de dela dele deles depois desde dessa desse desta deste do
        dos durante e é ela elas ele eles em enquanto então entre era eram essa essas esse esses esta está estão
        estas estava estavam este estes eu foi for foram há isso isto já lhe lhes logo mais mas me mesma mesmo
        meu meus minha muita muitas muito muitos na nada não nas nem nenhum nenhuma nessa nesse nesta neste no
        nos nós nossa nosso num numa nunca o onde os ou outra outras outro outros para pela pelas pelo pelos per
        pode podem pois por porém porque pouco pouca qual quais qualquer quando quanto quase que quem são se
        seja sem sempre sendo ser será seu seus si sido sim só sob sobre sua suas também tanto tão te tem têm
        ter teve tinha tinham toda todas todo todos tu tudo um uma umas uns vai você vocês"""),
    weak=words("""
        ano anos dia dias semana semanas mês meses tempo vez vezes parte partes exemplo tipo modo maneira forma
        número caso casos lado hora horas minuto minutos manhã noite ontem amanhã novo nova novos novas grande
        grandes pequeno pequena bom boa melhor longo longa alto alta primeiro primeira segundo segunda terceiro
        último última fim final início razão coisa coisas pergunta ponto milhão milhões mil cem dois três quatro
        cinco seis sete oito nove dez pessoas gente diz dizer disse deve devem fazer feito fica ficam vem certo
        certa"""),
    verbs=words("""
        é são era eram foi foram será está estão estava tem têm tinha tinham há houve pode podem podia deve
        devem vai vão ia faz fazem fez diz dizem disse fica ficam ficou vem vêm veio vê sabe sabem quer querem
        custa custam falta faltam continua continuam cresceu cresce caiu cai subiu sobe perdeu perde começou
        começa existe existem parece vive vivem mostra permite"""),
    before_nouns=words("""
        o a os as um uma do da dos das no na nos nas ao à pelo pela de em com por para sem sobre entre este esta
        esse essa seu sua nosso nossa cada outro outra"""),
    before_verbs=words("eu tu ele ela nós eles elas se não que quem me te lhe"),
    joining=words("de do da dos das"),
    leaning=words("""
        ele ela eles elas isto isso este esta esse essa assim então mas e ou pois também ali aqui seu sua ambos"""),
    pronouns=words("ele ela eles elas isto isso"),
    first_person=words("eu meu minha nós nosso nossa me nos"),
    openers=marks("mas, e, porém, no entanto, além disso, assim, então, por isso, portanto, aliás, enfim, por fim"),
    asides=marks("que, quem, onde, cujo, cuja, o qual, a qual, incluindo, e"),
    limits=words("mas não se só apenas sem nunca exceto salvo embora até quando nenhum nenhuma nem porém"),
    abbreviations=words("sr sra dr dra prof profa st sto sta núm pág págs vol fig art av etc ex p a.c d.c"),
    roles={
        "contrast": marks("""
            mas, porém, no entanto, contudo, todavia, embora, apesar de, enquanto, ao contrário, em vez de,
            ainda assim"""),
        "cause": marks("""
            porque, por isso, portanto, pois, devido a, graças a, por causa de, já que, uma vez que, a razão"""),
        "example": marks("por exemplo, tais como, como por exemplo"),
        "close": marks("em conclusão, em resumo, no fim, finalmente, por fim, afinal"),
        "claim": marks("acho que, acredito que, na minha opinião, é claro, na verdade"),
        "advice": marks("""
            deve, devem, deveria, deveriam, é preciso, é necessário, convém, evite, recomenda, tem de, tem que"""),
        "problem": marks("""
            problema, problemas, risco, riscos, perigo, crise, falta, perda, perdas, erro, erros, dano, danos"""),
        "change": marks("""
            já não, antes, desde então, tornou-se, cresceu, aumentou, caiu, dobrou, pela primeira vez, mudou"""),
        "measure": marks("""
            mais de, mais do que, menos de, comparado com, o dobro, metade, um terço, em média, por cento"""),
        "scene": marks("""
            um dia, uma manhã, uma noite, naquele dia, lembro, quando era, há anos, nasceu, conta, contou"""),
        "unknown": marks("ninguém sabe, não se sabe, mistério, a pergunta é, incerto, sem resposta"),
        "surprise": marks("surpreendente, segredo, inesperado"),
    },
    because=("porque", "já que"),
    but=("mas", "enquanto"),
    copulas=words("é são era significa"),
    pointers=marks("veja, ver, para mais, consulte"),
    saying=words("""
        disse diz explicou explica contou conta perguntou respondeu afirmou afirma acrescentou escreveu escreve
        lembrou reconheceu alertou garantiu declarou sustenta"""),
    titles=words("""
        senhor senhora sr sra doutor doutora dr dra professor professora presidente ministro ministra prefeito"""),
    bodies=words("""
        universidade instituto escola ministério agência comitê conselho tribunal banco fundação associação"""),
    places=words("em no na de do da desde"),
    months=words("janeiro fevereiro março abril maio junho julho agosto setembro outubro novembro dezembro"),
    scales=words("cento cem mil milhão milhões bilhão bilhões dúzia vezes"),
    numerals=words("""
        dois duas três quatro cinco seis sete oito nove dez onze doze vinte trinta quarenta cinquenta sessenta
        setenta oitenta noventa cem mil metade terço dobro"""),
    references=words("seção capítulo página páginas figura tabela versão artigo número passo parte linha"),
    positive=words("""
        bom boa melhor excelente sucesso feliz alegria amor belo bela esperança ganhou ganho eficaz fácil útil
        ajuda são forte crescimento orgulho brilhante prazer progresso seguro segura confiança valioso vivo
        recuperou obrigado"""),
    negative=words("""
        mau má mal pior fracasso fracassou perda perdas perdeu crise desastre perigo dano danos dor sofre sofreu
        triste medo raiva ódio morte mortes morto mortos morreu guerra ataque violência vítima vítimas ameaça
        colapso queda pobreza fome seca dívida dívidas fraude problema problemas destruiu tóxico doente doença
        fraco injusto inútil fechado abandonado"""),
    negations=words("não nunca sem nem nenhum nenhuma nada"),
)
