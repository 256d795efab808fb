# ruff: noqa: RUF001 - letters of other scripts
"""Made tables in the shape of public ones, in other languages; key.toml says what they hold.

Every value is made up. Figures depend on nothing but the number of the row.
"""

import csv
import datetime
from collections.abc import Callable

ROWS = 600
IBANS = [
    "DE89370400440532013000",
    "DE75512108001245126199",
    "DE12500105170648489890",
    "FR1420041010050500013M02606",
    "ES9121000418450200051332",
    "PL61109010140000071219812874",
    "TR330006100519786457841326",
    "PT50000201231234567890154",
    "IT60X0542811101000000123456",
    "NL91ABNA0417164300",
    "NO9386011117947",
    "SE4550000000058398257466",
    "DK5000400440116243",
]


def mixed(i: int, salt: int = 0) -> int:
    """A number that looks drawn by lot, the same in each run."""
    x = (i * 2654435761 + salt * 40503 + 12345) % 2**32
    x ^= x >> 15
    return (x * 2246822519 % 2**32) >> 7


def pick(text: str, salt: int, separator: str = " ") -> Callable[[int], str]:
    values = text.split(separator)
    return lambda i: values[mixed(i, salt) % len(values)]


def pair(first: str, last: str, salt: int, sign: str = " ") -> Callable[[int], str]:
    one, two = pick(first, salt), pick(last, salt + 1)
    return lambda i: f"{one(i)}{sign}{two(i)}"


def number(low: int, high: int, salt: int) -> Callable[[int], str]:
    return lambda i: str(low + mixed(i, salt) % (high - low + 1))


def age(salt: int) -> Callable[[int], str]:
    return lambda i: str(18 + mixed(i, salt) % 40 + mixed(i, salt + 1) % 36)


def day(form: str, salt: int, first: int = 2019, days: int = 1500) -> Callable[[int], str]:
    start = datetime.datetime(first, 1, 1)

    def written(i: int) -> str:
        gone = datetime.timedelta(days=mixed(i, salt) % days, seconds=mixed(i, salt + 1) % 86400)
        return (start + gone).strftime(form)

    return written


def money(salt: int, unit: int = 50) -> Callable[[int], str]:
    return lambda i: str(unit * (10 + mixed(i, salt) % 30 + (mixed(i, salt + 1) % 12) ** 2))


def digits(form: str, salt: int) -> Callable[[int], str]:
    """Digits in the places of #."""

    def written(i: int) -> str:
        return "".join(
            str(mixed(i, salt + 31 * place) % 10) if sign == "#" else sign
            for place, sign in enumerate(form)
        )

    return written


def serial(form: str) -> Callable[[int], str]:
    return lambda i: form.format(100000 + (i * 7919) % 99991)


def pesel(i: int) -> str:
    body = f"{50 + i % 50:02}{1 + i % 12:02}{1 + i % 28:02}{mixed(i, 9) % 10000:04}"
    check = sum(int(d) * w for d, w in zip(body, (1, 3, 7, 9, 1, 3, 7, 9, 1, 3), strict=True))
    return f"{body}{(10 - check % 10) % 10}"


def tckn(i: int) -> str:
    nine = [1 + mixed(i, 5) % 9, *(mixed(i, 6 + place) % 10 for place in range(8))]
    ten = (7 * sum(nine[::2]) - sum(nine[1::2])) % 10
    return "".join(map(str, [*nine, ten, (sum(nine) + ten) % 10]))


def note(texts: str, salt: int) -> Callable[[int], str]:
    """Remarks of people: some hold a name or a telephone number."""
    usual = pick(texts, salt, "|")
    return lambda i: f"{usual(i)} {mixed(i, salt + 3) % 97}" if i % 4 else usual(i)


GERMAN = {
    "Fallnummer": serial("F{}"),
    "Vorname": pick("Annegret Torben Petra Kerstin Detlef Ayşe Gudrun Jonathan Sieglinde", 1),
    "Nachname": pick("Müller Schmidt Özdemir Kowalczyk Brandt Sommer Vogt Haas Pohl Seidel", 2),
    "Geb.-Datum": day("%d.%m.%Y", 3, 1935, 29000),
    "Alter": age(4),
    "Geschlecht": pick("m w", 5),
    "PLZ": pick("10115 20095 50667 80331 01067 04109 99084", 6),
    "Familienstand": pick("ledig verheiratet geschieden verwitwet", 7),
    "Konfession": pick("ev kath keine musl", 8),
    "Hauptdiagnose": pick("I10 E11 J45 F32 M54", 9),
    "Schwangerschaft": pick("ja nein", 10),
    "Telefonnummer": digits("0171 ###45##", 11),
    "Kto": lambda i: IBANS[mixed(i, 12) % len(IBANS)],
    "Aufnahme": day("%d.%m.%Y %H:%M", 13),
    "Verweildauer": number(1, 30, 14),
    "Bemerkung": note("Rückruf Herr Vogt|Tel. 030 4567891|Termin verschoben|Fr. Haas kommt", 15),
}
FRENCH = {
    "matricule": serial("{}"),
    "nom": pick("Lemoine Bernard Traoré Nguyen Garnier Petit Roux Fabre", 1),
    "prenom": pick("Amandine Jean-Luc Fatou Élise Thibault Camille Yannick", 2),
    "date_naissance": day("%d/%m/%Y", 3, 1940, 25000),
    "sexe": pick("H F", 4),
    "nom_commune": pick("Nantes Rezé Orvault Vertou Carquefou Saint-Herblain", 5),
    "code_postal": pick("44000 44400 44700 44120 44470", 6),
    "nb_enfants": number(0, 5, 7),
    "situation_familiale": pick("célibataire|marié|pacsé|divorcé", 8, "|"),
    "revenu_annuel": money(9, 100),
    "origine_ethnique": pick("A B C D", 10),
    "syndicat": pick("oui non", 11),
    "handicap": pick("oui non", 12),
    "courriel": lambda i: f"p{mixed(i, 13) % 400}@exemple.fr",
    "montant_aide": money(14, 10),
    "poids_sondage": lambda i: f"{1 + mixed(i, 15) % 9000 / 1000:.3f}",
}
SPANISH = {
    "folio": serial("MX{}"),
    "nombre": pick("Guadalupe Ximena Hugo Nayeli Óscar Rosario Efraín", 1),
    "apellidos": pair("Hernández Quispe Ramírez Cruz Ortega", "Vega Solís Luna Campos", 2),
    "edad": age(3),
    "sexo": pick("HOMBRE MUJER", 4),
    "entidad_federativa": pick("Jalisco Puebla Sonora Oaxaca Colima", 5),
    "fecha_ingreso": day("%Y-%m-%dT%H:%M:%S.000", 6),
    "embarazo": pick("SI NO", 7),
    "VIH": pick("SI NO", 8),
    "antecedentes_penales": pick("0 1", 9),
    "religión": pick("católica ninguna evangélica", 10),
    "teléfono_celular": digits("55 #### ####", 11),
    "escolaridad": pick("primaria secundaria licenciatura", 12),
    "num_hijos": number(0, 6, 13),
    "ocupación": pick("comercio campo oficina hogar", 14),
}
BRAZILIAN = {
    "NU_NOTIFIC": serial("{}"),
    "NM_PACIENT": pair("MARIA JOAO EDUARDA CAUA IARA", "SILVA SOUZA PEREIRA DIAS TELES", 1),
    "DT_NASC": day("%d/%m/%Y", 3, 1940, 25000),
    "NU_IDADE": age(4),
    "CS_SEXO": pick("M F", 5),
    "CS_RACA": pick("1 2 3 4 5", 6),
    "SG_UF": pick("SP RJ MG BA PE", 7),
    "ID_MUNICIP": pick("355030 330455 310620 292740", 8),
    "CS_ESCOL_N": pick("01 02 03 04 05", 9),
    "CS_GESTANT": pick("1 2 5 6 9", 10),
    "NM_MAE_PAC": pair("ANA RITA TEREZA LUZIA", "SILVA SOUZA PEREIRA DIAS TELES", 11),
    "NU_TELEFON": digits("(11) 9####-####", 12),
    "HIV": pick("1 2 9", 13),
    "DT_NOTIFIC": day("%d/%m/%Y", 14),
    "RENDA_FAM": money(15, 100),
}
POLISH = {
    "nr_ewidencyjny": pesel,
    "imię": pick("Bożena Grzegorz Łucja Tadeusz Wiktoria Zenon", 1),
    "nazwisko": pick("Wójcik Lis Maj Szymańska Duda Baran", 2),
    "płeć": pick("K M", 3),
    "wiek": age(4),
    "rok_urodzenia": number(1945, 2004, 5),
    "województwo": pick("mazowieckie śląskie lubelskie opolskie", 6),
    "wykształcenie": pick("podstawowe średnie wyższe", 7),
    "wynagrodzenie": money(8, 100),
    "związek_zawodowy": pick("tak nie", 9),
    "wyznanie": pick("rzymskokatolickie brak prawosławne", 10),
    "orientacja_seksualna": pick("a b c", 11),
    "liczba_dzieci": number(0, 5, 12),
    "dział": pick("kadry produkcja logistyka", 13),
    "data_zatrudnienia": day("%Y-%m-%d", 14),
}
TURKISH = {
    "kayıt": tckn,
    "ad": pick("Nilgün Berkay Sevda Tarık Ceren Umut", 1),
    "soyad": pick("Yılmaz Sönmez Uçar Toprak Ateş", 2),
    "doğum_tarihi": day("%d.%m.%y", 3, 1970, 15000),
    "yaş": age(4),
    "cinsiyet": pick("E K", 5),
    "il": pick("Ankara İzmir Bursa Adana", 6),
    "medeni_durum": pick("evli bekar dul", 7),
    "tanı": pick("astım diyabet migren", 8),
    "gebelik": pick("var yok", 9),
    "din": pick("a b c", 10),
    "cep_telefonu": digits("0532 ### ## ##", 11),
    "maaş": money(12, 500),
    "meslek": pick("memur işçi esnaf çiftçi", 13),
}
CHINESE = {
    "病历号": serial("{}"),
    "姓名": pair("王 李 张 赵 陈", "伟 秀英 建国 雪 子轩 丽娜", 1, ""),
    "性别": pick("男 女", 3),
    "年龄": age(4),
    "民族": pick("汉 回 满 壮", 5),
    "省份": pick("河北 山东 四川 云南", 6),
    "职业": pick("教师 农民 工人 学生", 7),
    "诊断": pick("高血压 糖尿病 肺炎", 8),
    "怀孕": pick("是 否", 9),
    "手机号码": digits("138########", 10),
    "入院日期": day("%Y/%m/%d", 11),
    "婚姻状况": pick("已婚 未婚 离异", 12),
    "月收入": money(13, 100),
    "联系人": pair("刘 杨 周 孙", "敏 强 芳 涛", 14, ""),
}
RUSSIAN = {
    "ФИО": lambda i: (
        pair("Иванов Кузнецов Тарасов Белов", "Иван Пётр Олег Глеб", 1)(i)
        + pick(" Петрович| Ильич| Олегович", 3, "|")(i)
    ),
    "пол": pick("м ж", 4),
    "возраст": age(5),
    "регион": pick("Москва Тверь Казань Омск", 6),
    "образование": pick("среднее высшее начальное", 7),
    "национальность": pick("русский татарин чуваш", 8),
    "вероисповедание": pick("православие ислам нет", 9),
    "диагноз": pick("грипп астма гастрит", 10),
    "телефон": digits("+7 916 ###-##-##", 11),
    "дата_рождения": day("%d.%m.%Y", 12, 1940, 25000),
    "зарплата": money(13, 500),
    "количество_детей": number(0, 5, 14),
    "судимость": pick("да нет", 15),
}
GREEK = {
    "Ονοματεπώνυμο": pair("Νίκος Ελένη Στέλιος Μαρίνα", "Παπαδόπουλος Βλάχος Δήμου", 1),
    "Φύλο": pick("Α Θ", 3),
    "Ηλικία": age(4),
    "Έτος γέννησης": number(1940, 2004, 5),
    "Νομός": pick("Αττικής Αχαΐας Χανίων", 6),
    "Επάγγελμα": pick("δάσκαλος αγρότης έμπορος", 7),
    "Διάγνωση": pick("άσθμα διαβήτης γρίπη", 8),
    "Θρήσκευμα": pick("ορθόδοξος άλλο κανένα", 9),
    "Κινητό": digits("69########", 10),
    "Εισόδημα": money(11, 100),
    "Αριθμός παιδιών": number(0, 5, 12),
    "Ημερομηνία": day("%d/%m/%Y %H:%M", 13),
}
NORWEGIAN = {
    "løpenr": serial("{}"),
    "fornavn": pick("Kari Ola Sindre Tuva Eskil Ragnhild", 1),
    "etternavn": pick("Hansen Lie Moen Dahl Ødegård", 2),
    "fødselsår": number(1940, 2004, 3),
    "kjønn": pick("mann kvinne", 4),
    "kommune": pick("Bergen Tromsø Bodø Molde", 5),
    "sivilstand": pick("gift ugift skilt", 6),
    "inntekt": money(7, 1000),
    "fagforening": pick("ja nei", 8),
    "sykdom": pick("astma diabetes ingen", 9),
    "mobilnummer": digits("9## ## ###", 10),
    "utdanning": pick("grunnskole videregående høyere", 11),
    "antall_barn": number(0, 5, 12),
    "legning": pick("a b c", 13),
    "besøkt": day("%Y-%m-%dT%H:%M:%S+01:00", 14),
}
ARABIC = {
    "الاسم الكامل": pair("محمد فاطمة أحمد نورة خالد", "الحربي السيد العلي الشمري", 1),
    "الجنس": pick("ذكر أنثى", 3),
    "العمر": age(4),
    "المدينة": pick("الرياض جدة الدمام", 5),
    "المهنة": pick("معلم مهندس تاجر", 6),
    "التشخيص": pick("سكري ربو ضغط", 7),
    "الديانة": pick("أ ب ج", 8),
    "رقم الجوال": digits("05########", 9),
    "الراتب": money(10, 500),
    "عدد الأطفال": number(0, 6, 11),
    "تاريخ الميلاد": day("%Y-%m-%d", 12, 1940, 25000),
}
# The shape of a survey of households, of a court's file and of a portal's report.
NEUTRAL = {
    "serial": serial("{}"),
    "perweight": lambda i: f"{20 + mixed(i, 1) % 4000 / 10:.1f}",
    "age": age(2),
    "dob": day("%m/%d/%y", 3, 1970, 15000),
    "race": pick("A B C", 4),
    "is_recid": pick("0 1", 5),
    "r_case_number": serial("R-{}"),
    "priors_count": number(0, 25, 6),
    "created": day("%m/%d/%Y %I:%M:%S %p", 7),
    "updated": day("%Y-%m-%d %H:%M:%S+00", 8),
    "pct_low": number(0, 100, 9),
    "v1": lambda i: IBANS[mixed(i, 10) % len(IBANS)],
    "v2": pair("Oksana Bogdan Taras Lesia", "Shevchenko Kravchenko Boyko", 11),
    "v3": pair("王 李 张 赵 陈 杨 黄", "伟 秀英 建国 雪 子轩 丽娜", 12, ""),
    "v4": digits("+49 171 ###45##", 13),
    "note": note("called Mr. Thornbury|ring 212-555-0147|no answer|mail x@example.org", 14),
    "born_us": pick("yes no", 15),
    "latitude": lambda i: f"{40 + mixed(i, 16) % 9999 / 10000:.4f}",
}
TABLES = {
    "german": GERMAN,
    "french": FRENCH,
    "spanish": SPANISH,
    "brazilian": BRAZILIAN,
    "polish": POLISH,
    "turkish": TURKISH,
    "chinese": CHINESE,
    "russian": RUSSIAN,
    "greek": GREEK,
    "norwegian": NORWEGIAN,
    "arabic": ARABIC,
    "neutral": NEUTRAL,
}


def write_table(name, path):
    """Write one table as a CSV file."""
    columns = TABLES[name]
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(columns)
        writer.writerows([cell(i) for cell in columns.values()] for i in range(ROWS))
    return path
