"""Given names of many countries: with one of them, a row of capitals is a person and not a firm or a street."""

from __future__ import annotations

from typing import Final

from weft.models.embedded.languages.language import words

GIVEN_NAMES: Final = words("""
aaron abdul abel adam adele adrian agnes ahmed aisha akira alan albert alejandro alex alexander alexandra alfred
ali alice amanda amina amir amy ana anders andrea andreas andrei andrew angela anita anja ann anna anne annika
anthony antoine antonio anton arjun arthur astrid barbara beatrice ben benjamin bernard bill bjorn bob brian
bruno camille carl carla carlos carmen caroline catherine cecilia charles charlotte chloe chris christian
christina christine christopher claire clara claude claudia colin daniel daniela david deborah denis diana diego
dmitri dorothy edith eduardo edward eleanor elena elias elif elisabeth elizabeth ella ellen emil emilia emily
emma eric erik ernst esther eva evelyn fatima felix fernando florence francis francisco francois frank franz
frederick fritz gabriel gabriela george georg gerard gertrude giovanni giulia grace greta gustav hana hannah
hans harriet harry hassan heinrich helen helena helga henri henry herbert hugo ibrahim ida igor ines ingrid
irene isaac isabel isabella ivan jack jacob jacques james jan jane janet javier jean jennifer jens jessica joan
joanna johan johann johanna john jonas jonathan jorge jose josef joseph joshua juan judith julia julie julien
jurgen kamal karen karin karl kate katharina katherine kathleen keiko kenji kevin khalid klaus kofi kwame lars
laura leila lena leo leon leonard leonardo leyla lily linda lisa lorenzo louis louise luca lucas lucia lucy luis
luisa lukas magnus malcolm mara marc marco margaret maria mariam marie marina mario marion mark markus marta
martha martin mary mateo matthew matthias maurice max maya mehmet mei michael michel miguel mikhail miriam
mohamed mohammed monica muhammad nadia nancy natalia natasha nathan nicholas nicolas nicole nikolai nils nina
noah nora olaf oleg olga oliver olivia omar oscar otto pablo pamela paolo patricia patrick paul paula pedro
peter petra philip philippe pierre priya rachel rafael rahul raj ralph raymond rebecca rene renata ricardo
richard rita robert roberto roger roland rosa rosalind rose ruth ryan sabine salma sam samuel sandra sara sarah
sebastian sergei sergio sharon simon simone sofia sophia sophie stefan stella stephen steve steven susan susanne
sven sylvia tariq tatiana teresa theo theodor theresa thomas tim tom tomas ursula valentina vera victor victoria
vincent virginia vladimir walter werner wilhelm william wolfgang xavier yasmin yuki yusuf yves zahra zoe анна
мария елена ольга наталья татьяна ирина екатерина иван александр сергей дмитрий андрей алексей михаил николай
павел владимир пётр abigail alba aleksandra alessandro alina alma amelie anabel angelika annette antje antonia
arne axel aylin bastian beate beatriz benedikt bernd bernhard beth birgit birgitta bjarne brigitte cathy cedric
christoph conrad cornelia dagmar dale dieter dirk doris edda eileen elke elliot enrique ewa fabian fabio felicia
fiona florian francesca frida friedrich gerda gerhard gilles gisela giuseppe gloria guido gunter hanne harald
hartmut heike heinz hilda hilde holger horst ilse imke ingo irina iris isabelle jana jakob jasmin jeanne jochen
joel joerg jorg jurgen jutta kai karsten katarina katja katrin kerstin kirsten kurt laurent lea leonie lorena
luise lutz lydia maja manfred manuel manuela marcel margit margot marguerite marianne marlene marta maike melanie
mira mirjam monika nadine naomi nele nico noemi norbert oskar pascal patrizia pauline pilar rainer ralf ramon
raul regina reinhard remi renate reiner rob rolf rosemarie rudolf samira saskia silke silvia stefanie svenja
sylvie tanja thierry tobias torsten udo ulrich ulrike uta uwe valerie veronika viktor volker wanda wendy yannick
yara yvonne joao antonio lucia jose angel luiz marcia rosana paulo rui tiago ines kazuko haruki satoshi wei
ming aksel edda ingeborg sigrid solveig yusra leyla deniz emre selin
""")
