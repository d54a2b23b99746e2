import fs from 'node:fs'
import { describe, expect, it } from 'vitest'
import { redact } from '../../../src/event/redact.js'
import { redactText } from '../../../src/event/secret-values.js'
import { isSensitive } from '../../../src/event/secrets.js'
import { SECRET_NAMES } from '../../support/secret-names.js'

/*
 * Common forms in which secrets reach a log, and similar texts without secrets. The secrets are `hunter2` and `hush`.
 */

describe.each(Object.entries(SECRET_NAMES))('a name in %s', (_, names) => {
  it.each(names)('%s', (name) => {
    for (const key of [name, name.normalize('NFD'), `user_${name}`])
      expect(redact({ [key]: 'hush' }), key).toEqual({ [key]: '[redacted]' })
    expect(redactText(`login ${name}=hush`)).not.toContain('hush')
    if (!name.includes(' ')) expect(redactText(`${name}: "hush"`)).not.toContain('hush')
  })
})

const VALUES: readonly (readonly [form: string, value: unknown])[] = [
  ['name and value', { name: 'password', value: 'hush' }],
  ['value before name', { value: 'hush', name: 'password' }],
  ['key and value', { key: 'password', value: 'hush' }],
  ['field and value', { field: 'password', value: 'hush' }],
  ['Name and Value', { Name: 'Password', Value: 'hush' }],
  ['k and v', { k: 'password', v: 'hush' }],
  ['header and value', { header: 'X-Api-Key', value: 'hush' }],
  ['id and value', { id: 'newPassword', value: 'hush' }],
  ['label and value', { label: 'Kennwort', value: 'hush' }],
  ['type and value', { type: 'password', value: 'hush' }],
  ['name and values', { name: 'password', values: ['hush'] }],
  ['attribute and new_value', { attribute: 'password', old_value: 'hush', new_value: 'hush' }],
  ['column, from and to', { column: 'password', from: 'hush', to: 'hush' }],
  ['property and content', { property: 'password', content: 'hush' }],
  ['ParameterKey and ParameterValue', { ParameterKey: 'DbPassword', ParameterValue: 'hush' }],
  [
    'variable in a list',
    {
      env: [
        { name: 'PGPASSWORD', value: 'hush' },
        { name: 'A', value: 'b' },
      ],
    },
  ],
  ['JSON Patch', [{ op: 'replace', path: '/user/password', value: 'hush' }]],
  ['HAR', { headers: [{ name: 'Authorization', value: 'hush' }], cookies: [] }],
  ['HAR post data', { postData: { params: [{ name: 'passwort', value: 'hush' }] } }],
  ['OpenTelemetry', { attributes: [{ key: 'db.password', value: { stringValue: 'hush' } }] }],
  [
    'list of pairs',
    {
      headers: [
        ['accept', 'x'],
        ['authorization', 'hush'],
      ],
    },
  ],
  [
    'list of pairs at the top',
    [
      ['x-api-key', 'hush'],
      ['accept', 'x'],
    ],
  ],
  ['a pair with a list', [['authorization', ['hush']]]],
  ['rawHeaders', { rawHeaders: ['Host', 'x', 'X-Api-Key', 'hush', 'Cookie', 'hush'] }],
  ['raw_headers', { raw_headers: ['authorization', 'hush'] }],
  ['arguments', { argv: ['mysql', '--password', 'hush', '--port', '1'] }],
  ['a word that only resembles a secret name, beside one', { passwordless_token: 'hush' }],
  ['a map', new Map([['password', 'hush']])],
  [
    'pair of a class',
    Object.assign(Object.create({ x: 1 }) as object, { name: 'password', value: 'hush' }),
  ],
]

it.each(VALUES)('%s', (_, value) => {
  const shown = JSON.stringify(redact(value))
  expect(shown).toContain('[redacted]')
  expect(shown).not.toContain('hush')
})

const parseError = (text: string): string => {
  try {
    JSON.parse(text)
  } catch (error) {
    return String(error)
  }
  throw new Error('it is JSON')
}

const join = (...parts: string[]): string => parts.join('')
const HEX = '0123456789abcdef0123456789abcdef'
const GUID = '7b9c2ad0-9d3e-4c1b-8a57-0d6f7f0f6a11'

const TEXTS: readonly string[] = [
  // Assignments.
  'password: hunter2',
  'password: hunter',
  'password: hunter\nuser: ann',
  'user: ann password: hunter ip: 127.0.0.1',
  'Passwort: hunter',
  'password : hunter2',
  'password=hunter2',
  'password = hunter2',
  'password -> hunter2',
  "PASSWORD='hunter2 x'",
  'PGPASSWORD=hunter2 psql',
  'export DB_PASS=hunter2',
  'MYSQL_PWD=hunter2',
  'map[password:hunter2 user:ann]',
  'password: |\n  hunter2\n  more hunter2\nuser: ann',
  'password: >-\n  hunter2',
  'Driver=x;PWD={hun;ter2 hunter2};Server=y',
  'пароль: hunter2',
  '密码：hunter2',
  '密码=hunter2',
  'contraseña: hunter2',
  'spring.datasource.password=hunter2',
  "{'password': 'hunter2'}",
  ':password => "hunter2"',
  '{"name":"password","value":"hunter2"}',
  '{"name": "password", "type": "string", "value": "hunter2"}',
  String.raw`{\"key\":\"password\",\"value\":\"hunter2\"}`,
  '<add key="Password" value="hunter2"/>',
  '<input type="text" name="password" value="hunter2">',
  '- name: DB_PASSWORD\n  value: hunter2',
  'Content-Disposition: form-data; name="password"\r\n\r\nhunter2\r\n--x',
  // Sentences.
  'the password is hunter2',
  'password is hunter2.',
  "the password is 'hunter'",
  'your PIN is 4711hunter2',
  'the API key is hunter2',
  'das Passwort ist hunter2',
  'la contraseña es hunter2',
  'le mot de passe est hunter2',
  'Mot de passe : hunter2',
  'كلمة المرور: hunter2',
  'mật khẩu: hunter2',
  'login of ann with password hunter2',
  'set PASSWORD to hunter2',
  // SQL.
  "CREATE USER ann IDENTIFIED BY 'hunter2'",
  "ALTER USER ann IDENTIFIED WITH mysql_native_password BY 'hunter2'",
  'create user ann identified by hunter2',
  "CREATE ROLE ann LOGIN PASSWORD 'hunter2'",
  "ALTER ROLE ann WITH ENCRYPTED PASSWORD 'hunter2'",
  "SET PASSWORD FOR ann = 'hunter2'",
  "SET PASSWORD = PASSWORD('hunter2')",
  "UPDATE users SET password='hunter2' WHERE id = 1",
  // Commands.
  'login --password hunter2',
  'login --password=hunter2',
  "login --password 'hunter2 x'",
  'Connect-X -Password hunter2',
  'sshpass -p hunter2 ssh x',
  'sshpass -phunter2 ssh x',
  'mysql -u root -phunter2 db',
  'mysqldump -phunter2',
  'redis-cli -h x -a hunter2 ping',
  'curl -u ann:hunter2 https://x.org',
  'curl --user ann:hunter2 https://x.org',
  'docker login -u ann -p hunter2 x.org',
  'ldapsearch -D cn=x -w hunter2',
  'sqlcmd -S x -U sa -P hunter2',
  'unzip -P hunter2 a.zip',
  'smbclient //x/y -U ann%hunter2',
  'openssl enc -passin pass:hunter2',
  'keytool -storepass hunter2',
  'machine x.org login ann password hunter2',
  'net use z: /user:ann /password:hunter2',
  // Errors of JSON.
  parseError('secret=hunter2'),
  parseError('hunter2'),
  parseError('{"user":"ann","password": hunter2}'),
  'Unexpected token \'s\', "secret=hunter2"... is not valid JSON',
  'Unexpected token \'}\', ..."rd": hunter2}" is not valid JSON',
  'SyntaxError: "hunter2" is not valid JSON',
  'JSON Parse error: Unexpected identifier "hunter2"',
  // URLs that are secrets.
  `https://discord.com/api/webhooks/1234567890/hunter2-${HEX}`,
  `https://discordapp.com/api/webhooks/1234567890/hunter2${HEX}`,
  `https://ptb.discord.com/api/v10/webhooks/1234567890/hunter2${HEX}`,
  `https://acme.webhook.office.com/webhookb2/${GUID}@${GUID}/IncomingWebhook/hunter2${HEX}/${GUID}`,
  `https://outlook.office.com/webhook/${GUID}@${GUID}/IncomingWebhook/hunter2${HEX}/${GUID}`,
  `https://prod-1.westus.logic.azure.com:443/workflows/${HEX}/triggers/manual/paths/invoke?api-version=1&sig=hunter2`,
  `https://x.api.powerplatform.com:443/powerautomate/automations/direct/workflows/${HEX}/triggers/manual/paths/invoke?sig=hunter2`,
  join('https://hooks.slack', '.com/services/T00000000/B00000000/hunter2XXXXXXXXXXXXXXXXX'),
  join('https://hooks.slack', '.com/workflows/T0000/A0000/1234/hunter2'),
  join('https://api.telegram.org/bot', '110201543:AAHdqTcvCH1vGWJxfSeofSAs0K5PALhunter2/getMe'),
  join('token 110201543', ':AAHdqTcvCH1vGWJxfSeofSAs0K5hunter2 is used'),
  'https://chat.googleapis.com/v1/spaces/AAA/messages?key=hunter2&token=hunter2',
  'https://hooks.zapier.com/hooks/catch/123456/hunter2/',
  'https://maker.ifttt.com/trigger/x/with/key/hunter2abc',
  'https://open.feishu.cn/open-apis/bot/v2/hook/hunter2-0000-0000',
  'https://ann:hunter2@example.org/x',
]

it.each(TEXTS)('%j', (text) => {
  const shown = redactText(text)
  expect(shown).toContain('[redacted]')
  expect(shown).not.toContain('hunter')
  expect(redactText(shown)).toBe(shown)
})

const KEPT: readonly string[] = [
  'password must be at least 8 characters',
  'Password must be at least 8 characters long',
  'password: must be longer',
  'password: Ensure this field has at least 8 characters.',
  'password: required',
  'Password: Required.',
  'password: invalid, email: invalid',
  'password: string',
  "password: can't be blank",
  'ValidationError: password: Path `password` is required.',
  'password authentication failed for user "ann"',
  'using password: YES',
  'SELECT password FROM users WHERE password IS NULL',
  'password: Confirmation does not match',
  'Passwort: muss mindestens 8 Zeichen haben',
  'the password is wrong',
  'the password is incorrect',
  'The password is required.',
  'your password is expired',
  'the password is too short',
  'the password is case-sensitive',
  'the token is not valid',
  'the secret is 8 characters long',
  'das Passwort ist falsch',
  'la contraseña es incorrecta',
  'the password was changed',
  'forgot password',
  'password reset for ann',
  'passwordless sign-in is enabled',
  'the tokenizer splits the text',
  'token_count: 5',
  'password_policy: strict',
  'token_type=bearer',
  'Unexpected token < in JSON at position 0',
  'Unexpected end of JSON input',
  'the body is not valid JSON',
  'docker run -p 8080:80 image',
  'mkdir -p /var/lib/x',
  'ssh -p 2222 example.org',
  'git commit -u origin',
  'curl -u https://x.org',
  'desenhar: x',
  'hasLocation=true',
  'segretaria: Anna',
  'secretary: Anna',
  'palabra_clave=azul',
  'https://discord.com/channels/1234567890/1234567890',
  'https://example.org/webhooks',
  '{"name":"colour","value":"red"}',
  'machine x.org login ann',
  'IDENTIFIED VIA ed25519',
]

it.each(KEPT)('is kept: %j', (text) => {
  expect(redactText(text)).toBe(text)
})

const KEPT_VALUES: readonly object[] = [
  { password_policy: 'strict' },
  { passwordless: true, isPasswordless: 'yes' },
  { token_count: 5, tokenize: 'x', tokenizer: 'bpe', tokenization: 'x', tokenised: 'x' },
  { secretary: 'Anna', secretariat: 'x', Sekretariat: 'x', segretaria: 'x' },
  { pass_order: 1, articlesApi: 'x', vehicles_api: 'x' },
  { hasLocation: true, has_lock: 1, hasLogo: 'x', desenho: 'x', palabra_clave: 'x' },
  { parola_chiave: 'x', Geheimhaltungsstufe: 'x', parole_officer: 'x', 암호화: 'x' },
  { name: 'ann', value: 'x' },
  { name: 'password_policy', value: 'strict' },
  { name: 'password' },
  { type: 'password', label: 'Password', placeholder: 'x' },
  { changed: ['password', 'email'] },
  { fields: ['email', 'password', 'name'] },
  { headers: ['authorization'] },
  { key: 'colour', value: 'red', password_changed_at: 'x' },
  { op: 'replace', path: '/name', value: 'x' },
  {
    pairs: [
      ['colour', 'red'],
      ['size', 'x'],
    ],
  },
]

it.each(KEPT_VALUES.map((value) => [JSON.stringify(value), value] as const))(
  'is kept: %s',
  (_, value) => {
    expect(redact(value)).toEqual(value)
  },
)

it('a key that names no secret is not secret in NFD', () => {
  for (const key of ['größe', 'naïve', 'année', 'имя', '名前', '이름', 'الاسم'])
    for (const form of [key, key.normalize('NFD')]) expect(isSensitive(form)).toBe(false)
})

it('the names that the guide lists are secret', () => {
  const guide = fs.readFileSync('docs/guide/record-requests.md', 'utf8')
  const [, table = ''] = guide.split('### Names in other languages')[1]!.split('| --- | --- |')
  const rows = table.split('\n\n')[0]!.trim().split('\n')
  const names = rows.flatMap((row) => row.split('|')[2]!.trim().split(/[,;] /))
  expect(names.length).toBeGreaterThan(60)
  expect(names.filter((name) => !isSensitive(name))).toEqual([])
})
