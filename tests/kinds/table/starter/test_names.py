# ruff: noqa: RUF001 - letters of other scripts
"""What names of columns say, in many languages and spellings."""

import tomllib
from importlib.resources import files

import pytest

from crowdcover.kinds.table.starter import words
from crowdcover.kinds.table.starter.lexicon import (
    fold_accents,
    list_name_titles,
    load_lexicon,
    names_of_people,
    tokenize_name,
)
from crowdcover.kinds.table.starter.names import Name

PEOPLE = {
    "German": "Vorname;Vor-Name;Nachname;Zuname;Geburtsname;Name, Vorname;Telefon privat;Handy-Nr.;"
    "Straße;Strasse;Hausnr.;Steuer-ID;Sozialversicherungsnummer;Schüler-Name;Tel.-Nr.",
    "French": "nom;Nom de famille;nom_jeune_fille;Prénom;PRENOMS;N° de téléphone;num_secu;NIR;"
    "Nom du médecin;courriel;matricule",
    "Spanish": "nombre;Apellidos;primer_apellido;DNI;N.I.F.;CURP;teléfono;dirección;num_expediente",
    "Portuguese": "nome;sobrenome;apelido;NM_PACIENT;nome da mãe;CPF;telemóvel;endereço;cartao_sus",
    "Italian": "nome;cognome;Cognome e nome;C.F.;codice_fiscale;cellulare;indirizzo;matricola",
    "Dutch": "voornaam;achternaam;tussenvoegsel;BSN;telefoonnummer;huisnummer;naam patient",
    "Nordic": "fornavn;etternavn;efternamn;förnamn;etunimi;sukunimi;fødselsnummer;CPR-nummer;hetu;"
    "henkilötunnus;puhelin;e-post;tlf",
    "Polish": "imię;imie;nazwisko;imię i nazwisko;PESEL;nr_telefonu;ulica;jméno;příjmení",
    "Turkish": "ad;AD;adı;soyad;SOYADI;Adı Soyadı;hasta adı;TC Kimlik No;cep telefonu",
    "Hungarian and others": "keresztnév;vezetéknév;Prenume;CNP;Prezime;Họ và tên;Nama Lengkap",
    "Russian": "ФИО;Ф.И.О.;фамилия;имя;отчество;номер телефона;СНИЛС;familiya;Прізвище",
    "Greek": "Όνομα;ΕΠΩΝΥΜΟ;Ονοματεπώνυμο;τηλέφωνο;ΑΜΚΑ;eponymo",
    "Chinese, Japanese, Korean": "姓名;姓;名;患者姓名;手机号码;身份证号;家庭住址;"
    "氏名;電話番号;이름;전화번호",
    "Arabic, Persian, Hebrew": "الاسم;الاسم الكامل;اسم المريض;رقم الهاتف;نام خانوادگی;שם משפחה",
    "English": "first;lname;surname;reported_by;next_of_kin;emergency_contact;cell",
}
NO_PEOPLE = (
    "nom_commune;Ortsname;nome_municipio;nombre_hospital;اسم المستشفى;医院名称;nazwa gminy;"
    "gemeentenaam;phone type;email_domain;adult;portal;Geburtsort;is_recid;perweight;pays;"
    "stationary;Straßentyp;ad_clicks;success;learning;kind"
)
SENSITIVE = {
    "HIV": "HIV-Status;VIH;statut_vih;ВИЧ;HIV感染",
    "pregnancy": "Schwangerschaft;grossesse;embarazada;gestante;gravidanza;zwanger;graviditet;"
    "raskaana;ciąża;gebelik;беременность;εγκυμοσύνη;怀孕;임신;حامل",
    "religion": "Konfession;croyance;religión;credo religioso;godsdienst;uskonto;wyznanie;din;"
    "вероисповедание;θρήσκευμα;宗教;종교;الديانة",
    "ethnicity": "Ethnie;origine ethnique;etnia;CS_RACA;etnisitet;narodowość;etnik köken;"
    "национальность;εθνικότητα;民族;민족;العرق;ethnicity",
    "union": "Gewerkschaftsmitglied;adhésion syndicale;sindicato;vakbondslid;fagforening;"
    "ammattiliitto;związek zawodowy;sendika;профсоюз;συνδικάτο;工会;노조;النقابة",
    "orientation": "sexuelle Orientierung;orientation sexuelle;orientación sexual;"
    "seksuele geaardheid;sexuell läggning;orientacja seksualna;cinsel yönelim;性取向",
    "health": "Vorerkrankungen;état de santé;enfermedades;doença;malattia;ziekte;sairaus;choroba;"
    "hastalık;болезнь;ασθένεια;疾病;질병;المرض",
    "record": "Vorstrafen;casier judiciaire;antecedentes penales;precedenti penali;strafblad;"
    "rikosrekisteri;karalność;sabıka kaydı;судимость;ποινικό μητρώο;前科;السوابق;is_recid",
}
BORN = {
    "age": "Alter;âge;edad;idade;età;leeftijd;ålder;ikä;wiek;yaş;věk;возраст;ηλικία;年龄;"
    "나이;العمر",
    "birth": "Geburtsjahr;année de naissance;año de nacimiento;anio_nac;ano_nasc;fødselsår;"
    "syntymävuosi;rok urodzenia;doğum yılı;год рождения;έτος γέννησης;出生年份;생년;year_born",
}


def flat(names):
    return [name for each in names.values() for name in each.split(";")]


@pytest.mark.parametrize("name", flat(PEOPLE))
def test_names_and_numbers_of_people(name):
    assert Name(name).identifies


@pytest.mark.parametrize("name", NO_PEOPLE.split(";"))
def test_names_of_places_and_things(name):
    assert not Name(name).identifies


@pytest.mark.parametrize("name", flat(SENSITIVE))
def test_what_nobody_should_learn(name):
    assert Name(name).sensitive
    assert not Name(name).identifies


@pytest.mark.parametrize("name", ["Krankenhaus", "län", "Beruf", "nivel", "povolání", "hivemind"])
def test_words_that_only_begin_like_sensitive_ones(name):
    assert Name(name).sensitive == ""


@pytest.mark.parametrize("topic", BORN)
def test_ages_and_births(topic):
    for name in BORN[topic].split(";"):
        assert getattr(Name(name), topic), name


@pytest.mark.parametrize("name", ["perweight", "PERWT", "Gewichtungsfaktor", "facteur_pondération"])
def test_weights_of_samples(name):
    assert Name(name).weighs


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("patientId", ["patient", "id"]),
        ("N.I.F.", ["nif"]),
        ("N° de téléphone", ["no", "de", "telephone"]),
        ("SOYADI_2", ["soyadi", "2"]),
        ("İSİM", ["isim"]),
        ("Größe", ["grosse"]),
    ],
)
def test_names_are_cut_into_folded_words(name, words):
    assert tokenize_name(name) == words


@pytest.mark.parametrize("name", ["größe", "groesse", "grosse", "GRÖSSE", "Grösse"])
def test_all_spellings_of_a_word_are_one(name):
    assert Name(name).measured


def test_the_files_of_words_are_whole():
    """Each file is TOML of texts, holds topics that a name is asked about, and no phrase of many
    words: a comma before single words would make one.
    """
    known = {
        "person", "name", "identifying", "number", "numbering", "holder", "who", "unit", "firm",
        "product", "place", "position", "code", "count", "measure", "age", "birth", "year", "body",
        "sampling", "weight", "paid", "health", "money", "private", "flag", "note", "attribute",
        "filler", "given", "surname", "ending", "particle", "title",
        "month", "calendar",
    }  # fmt: skip
    for file in files(words).iterdir():
        if file.name.endswith(".toml"):
            topics = tomllib.loads(file.read_text("utf-8"))
            assert topics.keys() <= known, file.name
            phrases = [each for text in topics.values() for each in text.split(",")[1:]]
            assert [each for each in phrases if not 0 < len(each.split()) <= 5] == []


def test_words_of_one_language():
    assert "age" in load_lexicon().words["idade"]
    assert "idade" not in load_lexicon("en").words


def test_names_of_people_are_folded():
    assert {"muller", "jose", "王", "김", "иванов"} <= names_of_people()
    assert all(fold_accents(name).casefold() == name for name in names_of_people())
    assert {"Frau", "Mme", "Mr", "さん"} <= set(list_name_titles())
