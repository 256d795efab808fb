# ruff: noqa: RUF001 - letters of other scripts
"""Names, numbers and contacts of people in cells, under names that say nothing."""

import polars as pl
import pytest

from crowdcover.kinds.table.starter.contacts import count_contacts, find_contact_form, is_name
from crowdcover.kinds.table.starter.proposals import propose_role
from tests.kinds.table.starter.tables import IBANS, digits, mixed, pesel, tckn

ROWS = 600


def column(texts, name="col_7"):
    """A column in which each text occurs many times, in a mixed order."""
    cells = texts.split("|") if isinstance(texts, str) else texts
    return pl.Series(name, [cells[mixed(i, 77) % len(cells)] for i in range(ROWS)])


def some(form, number=40):
    return [digits(form, 1)(i) for i in range(number)]


def spaced(text):
    return " ".join(text[at : at + 4] for at in range(0, len(text), 4))


NAMES = {
    "German": "Petra Müller|Jan Schmidt|Ute Fischer|Uwe Koch",
    "surname first": "Müller, Petra|Dubois, Marie|Rossi, Mario|Silva, João",
    "capitals": "MÜLLER PETRA|DUBOIS MARIE|ROSSI MARIO|NOWAK ANNA",
    "small letters": "petra müller|anna de boer|marie dubois|ute schmidt",
    "initials": "P. Müller|J. Smith|M. Dubois|A. Nowak|K. Hansen",
    "given names": "Heike|Petra|Uwe|Torben|Anna",
    "four words": "María José García López|Juan Carlos Pérez Ruiz|Ana Belén Díaz Mora",
    "Polish": "Katarzyna Nowak|Piotr Zieliński|Anna Wójcik|Bożena Lis",
    "Turkish": "Ahmet Yılmaz|Ayşe Kaya|Mehmet Demir|Zeynep Çelik",
    "Nordic": "Kari Hansen|Mikko Virtanen|Lars Nilsson|Søren Jensen",
    "Vietnamese": "Nguyễn Văn An|Trần Thị Bình|Phạm Quang Huy",
    "Cyrillic": "Иванов Иван|Петрова Анна|Сидоров Олег|Кузнецова Мария",
    "Cyrillic initials": "Иванов И.И.|Петрова А.С.|Сидоров О.П.",
    "names after fathers": "Олег Игоревич|Анна Сергеевна|Пётр Ильич Громов",
    "Latin letters": "Oksana Shevchenko|Bogdan Kravchenko|Olga Ivanova",
    "Greek": "Γιώργος Παπάς|Μαρία Νικολάου|Ελένη Γεωργίου",
    "Greek capitals": "ΠΑΠΑΔΟΠΟΥΛΟΣ ΓΕΩΡΓΙΟΣ|ΝΙΚΟΛΑΟΥ ΜΑΡΙΑ|ΓΕΩΡΓΙΟΥ ΕΛΕΝΗ",
    "Chinese": "王伟|李娜|张敏|刘洋|陈杰|杨丽|赵强",
    "few Chinese": "王伟|李娜|张敏",
    "Japanese": "佐藤 健|鈴木花子|高橋一郎|田中 美咲|伊藤 翔太",
    "Korean": "김민준|이서연|박지훈|최유진|정하은",
    "Arabic": "محمد أحمد|فاطمة علي|خالد العتيبي|نورة الشمري",
    "Hebrew": "דוד כהן|שרה לוי|משה פרץ",
}
THINGS = {
    "countries": "Germany|France|Georgia|Jordan|Chad|Spain",
    "trades": "Bäcker|Schneider|Koch|Lehrer|Maurer|Arzt|Fischer",
    "small words": "baker|miller|farmer|rose|mark",
    "marital": "never married|widowed|divorced",
    "Chinese cities": "北京|上海|广州|深圳|成都|杭州",
    "Chinese diseases": "高血压|糖尿病|肺炎|胃癌",
    "Chinese levels": "高|中|低",
    "prefectures": "東京都|大阪府|北海道|福岡県",
    "Arabic cities": "الرياض|جدة|مكة المكرمة|الدمام",
    "Russian cities": "Москва|Тверь|Псков|Омск",
    "ranges": "0-4|5-9|10-14|15-19",
    "intervals": "1000-1999|2000-2999|3000-3999",
    "larger intervals": "10000-19999|20000-29999|30000-39999|90000-100000",
    "versions": "1.2.3|1.2.4|2.0.1",
    "codes": [f"{25 + i}-00{503 + i}" for i in range(9)],
    "codes of causes": "A00.1|B20|C50.9",
}
# Scripts without capitals and without long lists of names: a name looks like any other word.
UNCASED = {
    "Devanagari": "राम शर्मा|सीता देवी|मोहन लाल",
    "given names in Devanagari": "राम|सीता|मोहन|गीता",
    "Bengali": "আবদুল করিম|রহিমা খাতুন|সুমন দাস",
    "Tamil": "முத்து குமார்|லட்சுமி நாராயணன்",
    "Thai": "สมชาย ใจดี|สมหญิง รักไทย|มาลี ศรีสุข",
    "Hebrew": "שירה ברק|אורי שגב|נועם ליבני",
    "given names in Hebrew": "שירה|אורי|איתי",
    "given names in Korean": "민준|서연|지후|수아",
    "Korean cities": "서울|부산|대구|인천|광주",
    "kana": "さとう はなこ|すずき いちろう|いとう みき",
    "katakana": "タナカ・ケンジ|ヤマモト・ユウコ",
    "Georgian": "გიორგი ბერიძე|ნინო კაპანაძე",
    "Amharic": "አበበ ቢቂላ|ከበደ ሚካኤል",
}
FEW_NUMBERS = {
    "two cards": "4111111111111111|5500005555555559",
    "two spaced cards": "4111 1111 1111 1111|5500 0055 5555 5559",
    "cards of two lengths": "378282246310005|4012-8888-8888-1881|4242424242424242",
}
NUMBERS = {
    "IBANs": IBANS,
    "few IBANs": IBANS[:2],
    "spaced IBANs": [spaced(iban) for iban in IBANS],
    "small IBANs": [iban.lower() for iban in IBANS],
    "German telephones": some("0171 ###45##"),
    "with a slash": some("030/####123"),
    "French telephones": some("06 ## ## ## ##"),
    "with dots": some("06.##.##.##.##"),
    "Spanish telephones": some("6## ### ###"),
    "American telephones": some("(212) 55#-0###"),
    "Polish telephones": some("+48 60# ### ###"),
    "Brazilian telephones": some("(11) 9####-####"),
    "Turkish telephones": some("0532#######"),
    "Russian telephones": some("8 (916) ###-##-##"),
    "Norwegian telephones": some("9## ## ###"),
    "Chinese telephones": some("138########"),
    "numbers for telephones": [int(text) for text in some("6########")],
    "from abroad": some("0049171######3"),
    "in one word": some("+4917#######"),
    "Polish citizens": [pesel(i) for i in range(50)],
    "numbers of citizens": [int(pesel(i)) for i in range(40)],
    "Turkish citizens": [tckn(i) for i in range(40)],
    "cards": "4111 1111 1111 1111|5500 0000 0000 0004|4012 8888 8888 1881|5105 1051 0510 5100"
    "|4000 0000 0000 0002|4242 4242 4242 4242",
    "mails": "a@b.de|c.d@example.org|x@y.com",
}
NOTES = {
    "English": "call Mr. Smith on Monday|no remarks|moved away",
    "German": "Herr Müller ruft an|kein Eintrag|verzogen",
    "French": "rappeler Mme Dupont|rien|absent",
    "Spanish": "llamar a la Sra. García|nada|ausente",
    "Turkish": "Sayın Yılmaz arandı|yok|taşındı",
    "Russian": "звонить: Госпожа Иванова|нет|ушёл",
    "Chinese": "联系王先生|无|搬走",
    "a telephone": "Rückruf 0171 2345678|nichts|offen",
    "a telephone from abroad": "call +48 601 234 567|none|open",
    "an American telephone": "ring 212-555-0147|none|open",
    "an address": "mail to ann@x.org|none|see file",
    "an IBAN": "zahlt auf DE89370400440532013000|nichts|offen",
    "a name": "spoke with Petra Müller today|none|see file",
}


@pytest.mark.parametrize("what", NAMES)
def test_names_of_people_are_asked_about(what):
    proposal = propose_role(column(NAMES[what]))
    assert (proposal.role, proposal.decide) == ("identifier", ("role",))
    assert "written like names of people" in proposal.reason


@pytest.mark.parametrize("what", UNCASED)
def test_words_of_scripts_without_capitals_are_asked_about(what):
    proposal = propose_role(column(UNCASED[what]))
    assert (proposal.role, proposal.decide) == ("quasi", ("role",))
    assert "which may be names" in proposal.reason


@pytest.mark.parametrize("name", ["नाम", "রোগীর নাম", "ชื่อ", "பெயர்"])
def test_names_of_columns_in_scripts_with_marks(name):
    assert propose_role(pl.Series(name, ["x", "y", "z"] * 10)).role == "identifier"


@pytest.mark.parametrize("what", FEW_NUMBERS)
def test_few_cards_are_asked_about(what):
    proposal = propose_role(column(FEW_NUMBERS[what]))
    assert (proposal.role, proposal.decide) == ("identifier", ("role",))


@pytest.mark.parametrize("texts", [["123456789", "987654321"], [44051401359, 44051401458]])
def test_few_long_numbers_are_asked_about(texts):
    proposal = propose_role(pl.Series("x", texts * 20))
    assert (proposal.role, proposal.decide) == ("quasi", ("role",))


@pytest.mark.parametrize("what", THINGS)
def test_names_of_things_are_categories(what):
    proposal = propose_role(column(THINGS[what]))
    assert (proposal.role, proposal.decide) == ("quasi", ())


@pytest.mark.long
@pytest.mark.parametrize("what", NUMBERS)
def test_numbers_of_people_are_identifiers(what):
    assert propose_role(column(NUMBERS[what])).role == "identifier"


@pytest.mark.parametrize("what", NOTES)
def test_texts_that_hold_a_contact_are_left_out(what):
    proposal = propose_role(column(NOTES[what], "note"))
    assert (proposal.role, proposal.decide) == ("drop", ("role",))


def test_reasons_hold_counts_and_no_cell():
    for texts in (*NAMES.values(), *NUMBERS.values(), *NOTES.values()):
        reason = propose_role(column(texts)).reason
        cells = texts.split("|") if isinstance(texts, str) else map(str, texts)
        assert [cell for cell in cells if cell in reason] == []


def test_capital_words_that_no_list_knows_are_asked_about():
    """Four texts may be kinds of work, or people."""
    proposal = propose_role(column("Health Care|Public Services|Food Industry|Steel Works"))
    assert (proposal.role, proposal.decide) == ("quasi", ("role",))
    known = propose_role(
        column("Health Care|Public Services|Food Industry|Steel Works", "industry")
    )
    assert (known.role, known.decide) == ("quasi", ())


def test_a_column_of_places_may_hold_words_of_names():
    cities = "San Diego|San Antonio|Santa Maria|San Jose"
    assert propose_role(column(cities, "city")).role == "quasi"
    assert propose_role(column(cities)).decide == ("role",)


def test_codes_that_some_country_takes_for_telephones_are_codes_by_their_name():
    codes = some("9####-####")
    assert propose_role(column(codes, "zip")).role == "quasi"
    assert propose_role(column(codes, "home phone")).role == "identifier"


@pytest.mark.parametrize("wrong", ["DE88370400440532013000", "XX1234567890123456", "A" * 22])
def test_an_iban_needs_its_check_digits(wrong):
    assert find_contact_form([wrong] * 3) == ""


@pytest.mark.long
def test_national_numbers_need_their_check_digit():
    right = [pesel(i) for i in range(20)]
    wrong = [number[:-1] + str((int(number[-1]) + 1) % 10) for number in right]
    assert find_contact_form(right) == "national numbers with a check digit"
    assert "national" not in find_contact_form(wrong)


def test_one_text_in_ten_may_be_of_another_form():
    mails = [f"p{i}@x.org" for i in range(18)]
    assert find_contact_form([*mails, "none", "?"]) == "e-mail addresses"
    assert find_contact_form([*mails, "none", "?", "-"]) == ""


def test_what_texts_hold_is_counted():
    found = dict(
        count_contacts(pl.Series(["Mr. Smith, a@b.de", "see c@d.de", "0171 2345678 old", "none"]))
    )
    assert found == {"e-mail addresses": 2, "telephone numbers": 1, "names beside titles": 1}
    assert count_contacts(pl.Series(["25-00503", "2020-01-01", "none of this"])) == []


@pytest.mark.parametrize("text", ["2 Main", "Anna 3", "", " ", "a b c d e Anna"])
def test_texts_that_are_no_names(text):
    assert not is_name(text)
