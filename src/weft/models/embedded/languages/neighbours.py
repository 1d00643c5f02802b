"""Languages that are only recognised, so that they are not taken for one of those the engine can say more about."""

from __future__ import annotations

from typing import Final

from weft.models.embedded.languages.language import Language, words

_WORDS: Final = {
    "sv": """
        och att det som en på är av för med den till har de inte om ett han men var jag sig från vi så kan man
        när år säger hon under också efter eller nu sin där vid mot ska skulle kommer ut får finns vara hade
        alla andra mycket än här då sedan över bara blir upp även vad""",
    "da": """
        og at det som en på er af for med den til har de ikke om et han men var jeg sig fra vi så kan man når år
        siger hun under også efter eller nu sin der ved mod skal skulle kommer ud får være havde alle andre
        meget end her da siden over kun bliver op hvad hvor blev""",
    "no": """
        og at det som en på er av for med den til har de ikke om et han men var jeg seg fra vi så kan man når år
        sier hun under også etter eller nå sin der ved mot skal skulle kommer ut får være hadde alle andre mye
        enn her da siden over bare blir opp hva hvor ble""",
    "pl": """
        i w na z do nie się to że jest o jak ale od po za co by dla przez tak już tylko jego być ich ma czy może
        przed które który która także oraz jednak sobie gdy bardzo był była było były są tego tej tym ten ta te""",
    "cs": """
        a v na se je že to s z do o i jako za by ale po k pro od jak jsem jsou tak byl byla bylo být který která
        které nebo podle jeho také už ještě při jen může mezi když však pouze tím této tento""",
    "tr": """
        ve bir bu da de için ile çok daha olarak gibi olan kadar sonra var en ne o ama her ki mi mı değil ya şey
        ben sen biz siz onlar şu hem veya göre olduğu ancak tüm bunu""",
    "fi": """
        ja on ei että se oli hän joka mutta ovat kuin ole myös niin mukaan kun sekä jos hänen tai nyt vain sen
        ollut voi jo kaikki tämä siitä olla sitä mitä tässä jälkeen vielä""",
    "hu": """
        a az és hogy nem is egy ez meg de csak már mint van volt ha azt sem vagy még ezt el lehet minden után
        kell pedig nagyon így ki mert szerint lesz ami aki""",
    "ro": """
        și în de la a cu pe nu că este din un o mai care sunt pentru au fost prin ca dar se le sau după între
        acest această fi ai ale lui ei când doar foarte""",
    "id": """
        yang dan di dari untuk dengan ini itu pada tidak dalam akan ke adalah juga saya oleh ada mereka bisa
        atau telah sudah karena lebih kami kita seperti dia hanya tersebut dapat saat para bahwa antara""",
    "vi": """
        và của là có không được trong cho một các những người với này đã để từ khi như đến cũng về ra nhiều hay
        thì lại vào năm còn""",
    "uk": """
        і в у на з що не до та це як за від є він про але було його для по має вже або її так які який яка також
        були був після під час чи ще бути ми ви вони""",
    "bg": """
        и в на да не се за от е с че са като по ще но до при това този тази той тя те или си как има към без още
        само след бе беше които който която""",
    "sl": """
        in je v na da se za so ki z ne pa bi tudi ali po kot od iz še le do pri bil bila bilo lahko ker tem samo
        med vse kar ko""",
    "hr": """
        i u je na da se za su od s ne to koji što kao o ali iz će ili nije po bio bila bilo biti kako samo još
        sve jer prije nakon koja koje""",
    "ca": """
        i de la el en que a per un una amb no és del els les es als com més ha però són al seu també o aquest
        aquesta molt quan fins hi ho""",
    "fa": """
        و در به از که این را با است برای آن یک خود تا کرد بر هم نیز وی شد می او ما شما آنها بود شده باید هر دو
        اما یا اگر""",
    "ur": """
        کے کی ہے میں اور سے کا کو اس نے پر یہ ہیں بھی کہ جو وہ نہیں ہو ایک تھا گیا کر رہا لیے تو تک ان کیا""",
    "he": """
        של את על לא הוא זה עם כי גם היא אני אם כל אבל או יותר יש היה הם מה בין רק אל כך אחד אך זו כמו אין""",
    "el": """
        και το να του η της με που την από για τα είναι των σε ο οι στο θα τη στην τον τους δεν τις ένα μια ότι
        ως στη κατά αλλά""",
    "th": """
        ที่ และ ใน ของ เป็น มี การ ได้ ไม่ จะ ให้ ว่า กับ จาก""",
}

NEIGHBOURS: Final = tuple(
    Language(code=code, spaced=code != "th", cased=code not in ("fa", "ur", "he", "th"), function=words(text))
    for code, text in _WORDS.items()
)
