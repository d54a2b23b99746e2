/*
 * Names of passwords and other secrets in languages other than English. Each text is a part of a regular expression that
 * JavaScript and Postgres read alike, without accents: `foldKey` of `secrets.ts` removes them from keys.
 */

/** Found anywhere among the Latin letters of a key, because no other word contains them. */
export const LATIN_PARTS: Readonly<Record<string, string>> = {
  German:
    'passwort|passwoe?rter|kennwort|kennwoe?rter|losungswort|geheim(?!haltung)|zugangsdaten|anmeldedaten|zugangscode|sicherheitscode|(?:api|privat(?:er)?|zugangs|zugriffs|sitzungs)schlue?ssel',
  Spanish:
    'contraseni?a|credencial|clave(?:secreta|privada|api|de?acceso|de?usuario)|clavesecret|palabradepaso',
  Catalan: 'contrasenya|contrasinal',
  French: 'mots?depasse|phrasedepasse|codedacces|cleprivee|clesecrete',
  Portuguese: 'palavras?(?:de)?passe|segredo|credenciai|chave(?:secreta|privada)',
  Italian: 'parola?dordine|credenzial|segret[oi](?!ri)|chiave(?:privata|segreta|api|di?accesso)',
  Dutch: 'wachtwoord|wachtzin|toegangscode|inloggegevens|(?:api|prive)sleutel',
  Swedish: 'losenord|losenfras|hemlighet|(?:api|privat)nyckel',
  Danish: 'adgangskode|kodeord|hemmelighed',
  Norwegian: 'hemmelighet',
  Finnish: 'salasana|tunnussana|salaisuu',
  Icelandic: 'lykilord|adgangsord',
  Polish: 'sekret(?!ar|aer|er)',
  Hungarian: 'jelsz[oa]',
  Croatian: 'lozink|zaporka|zaporke',
  Estonian: 'parool|salasona',
  Lithuanian: 'slaptazod',
  Vietnamese: 'matkhau',
  Indonesian: 'katasandi|katalaluan',
  Albanian: 'fjalekalim',
  Basque: 'pasahitz',
  Esperanto: 'pasvort',
}

/** Found as words of a key, or at the end of one, because other words contain them: `hasLocation`, `desenhar`. */
export const LATIN_WORDS: Readonly<Record<string, string>> = {
  Spanish: 'claves?$|clave_?api',
  French: 'mdp|cles?_?(?:d_?)?(?:api|acces)',
  Portuguese: 'senhas?|senhas?_?(?:atual|nova|antiga)',
  Italian: 'parola',
  Turkish: 'sifre(?:si|ler)?|parolasi',
}
/** The same, also as the end of a longer word. */
export const LATIN_ENDINGS: Readonly<Record<string, string>> = {
  Portuguese: '(?:nova|minha|sua|user|confirma)senhas?',
  Norwegian: 'passord(?:et)?',
  Polish: 'hasl[oa]',
  Czech: 'hesl[oa]',
  Slovenian: 'gesl[oa]',
}

/** Keywords and other words that contain one of the above. */
export const NO_PASSWORDS = '(?:parol[ae]|palabras?|mots?)_?(?:chiave|claves?|cles?)(?:_|$)'

/** Found anywhere in a key without its separators, in the scripts that have these languages. */
export const OTHER_SCRIPTS: Readonly<Record<string, readonly string[]>> = {
  Cyrillic: ['парол', 'секрет(?!ар)', 'лозинк', 'құпиясөз'],
  Greek: ['κωδικοςπροσβασης', 'κωδικοπροσβασης', 'συνθηματικ'],
  Hebrew: ['סיסמה', 'סיסמא', 'סיסמת', 'ססמה'],
  Arabic: [
    'كلمةالمرور',
    'كلمةمرور',
    'كلمةالسر',
    'كلمةسر',
    'رمزعبور',
    'رمزالمرور',
    'گذرواژه',
    'پاسورڈ',
  ],
  Devanagari: ['पासवर्ड', 'कूटशब्द'],
  Bengali: ['পাসওয়ার্ড'],
  Tamil: ['கடவுச்சொல்'],
  Thai: ['รหัสผ่าน'],
  Georgian: ['პაროლ'],
  Armenian: ['գաղտնաբառ'],
  Chinese: ['密码', '密碼', '口令', '密钥', '密鑰'],
  Japanese: ['パスワード', 'パスコード', 'パスフレーズ', '暗証番号', '秘密鍵', '合言葉'],
  Korean: ['비밀번호', '암호(?!화)', '패스워드'],
}
