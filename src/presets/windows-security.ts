import type { CustomTypeDefinition, CustomTypes } from '../event/custom-types.js'
import type { JsonObject } from '../event/event.js'
import { addressIn, type Preset, type PresetEvent, textIn, timeIn, withFacts } from './preset.js'

/** An event id, with its sentences: English, German. */
type Row = readonly [id: string, en: string, de: string]

/**
 * Sentences of the events of the channel Security, by the ids of
 * https://learn.microsoft.com/windows-server/identity/ad-ds/plan/appendix-l--events-to-monitor.
 */
const ROWS: readonly Row[] = [
  ['1102', 'cleared the audit log', 'löschte das Überwachungsprotokoll'],
  ['4608', '| Windows started', '| Windows wurde gestartet'],
  [
    '4616',
    'changed the system time[ from {PreviousTime}][ to {NewTime}]',
    'änderte die Systemzeit[ von {PreviousTime}][ auf {NewTime}]',
  ],
  [
    '4624',
    'logged on[ to {Hostname}][ from {remote_address}]',
    'meldete sich[ an {Hostname}] an[, von {remote_address}]',
  ],
  [
    '4625',
    'could not log on[ to {Hostname}] as **{TargetUserName}**',
    'konnte sich nicht als **{TargetUserName}**[ an {Hostname}] anmelden',
  ],
  [
    '4627',
    '| the groups of **{TargetUserName}** were read at logon[ to {Hostname}]',
    '| die Gruppen von **{TargetUserName}** wurden bei der Anmeldung[ an {Hostname}] gelesen',
  ],
  ['4634', 'logged off[ from {Hostname}]', 'meldete sich[ von {Hostname}] ab'],
  ['4647', 'logged off[ from {Hostname}]', 'meldete sich[ von {Hostname}] ab'],
  [
    '4648',
    'logged on as **{TargetUserName}** with other credentials',
    'meldete sich mit anderen Anmeldedaten als **{TargetUserName}** an',
  ],
  [
    '4656',
    'asked for a handle to **{ObjectName}**[ by {ProcessName}]',
    'forderte ein Handle für **{ObjectName}** an[, durch {ProcessName}]',
  ],
  [
    '4657',
    'changed registry value **{ObjectName}**',
    'änderte den Registrierungswert **{ObjectName}**',
  ],
  ['4658', 'closed a handle[ by {ProcessName}]', 'schloss ein Handle[, durch {ProcessName}]'],
  ['4660', 'deleted an object[ by {ProcessName}]', 'löschte ein Objekt[, durch {ProcessName}]'],
  ['4661', 'asked for a handle to **{ObjectName}**', 'forderte ein Handle für **{ObjectName}** an'],
  [
    '4663',
    'accessed **{ObjectName}**[ by {ProcessName}]',
    'griff auf **{ObjectName}** zu[, durch {ProcessName}]',
  ],
  [
    '4670',
    'changed the permissions of an object[ by {ProcessName}]',
    'änderte die Berechtigungen eines Objekts[, durch {ProcessName}]',
  ],
  ['4672', 'logged on with special privileges', 'meldete sich mit besonderen Rechten an'],
  [
    '4673',
    'called a privileged service[ by {ProcessName}]',
    'rief einen privilegierten Dienst auf[, durch {ProcessName}]',
  ],
  [
    '4674',
    'used privileges on an object[ by {ProcessName}]',
    'nutzte Rechte für ein Objekt[, durch {ProcessName}]',
  ],
  ['4688', 'started process **{NewProcessName}**', 'startete den Prozess **{NewProcessName}**'],
  ['4689', 'ended process **{ProcessName}**', 'beendete den Prozess **{ProcessName}**'],
  ['4690', 'duplicated a handle', 'duplizierte ein Handle'],
  ['4697', 'installed service **{ServiceName}**', 'installierte den Dienst **{ServiceName}**'],
  ['4698', 'created scheduled task **{TaskName}**', 'legte die geplante Aufgabe **{TaskName}** an'],
  ['4699', 'deleted scheduled task **{TaskName}**', 'löschte die geplante Aufgabe **{TaskName}**'],
  ['4702', 'changed scheduled task **{TaskName}**', 'änderte die geplante Aufgabe **{TaskName}**'],
  [
    '4703',
    'changed token rights of **{TargetUserName}**',
    'änderte die Tokenrechte von **{TargetUserName}**',
  ],
  ['4719', 'changed the audit policy', 'änderte die Überwachungsrichtlinie'],
  ['4720', 'created user **{TargetUserName}**', 'legte den Benutzer **{TargetUserName}** an'],
  ['4722', 'enabled user **{TargetUserName}**', 'aktivierte den Benutzer **{TargetUserName}**'],
  [
    '4723',
    'tried to change the password of **{TargetUserName}**',
    'versuchte, das Kennwort von **{TargetUserName}** zu ändern',
  ],
  [
    '4724',
    'tried to reset the password of **{TargetUserName}**',
    'versuchte, das Kennwort von **{TargetUserName}** zurückzusetzen',
  ],
  ['4725', 'disabled user **{TargetUserName}**', 'deaktivierte den Benutzer **{TargetUserName}**'],
  ['4726', 'deleted user **{TargetUserName}**', 'löschte den Benutzer **{TargetUserName}**'],
  [
    '4728',
    'added [**{MemberName}**|**{MemberSid}**] to the global group **{TargetUserName}**',
    'nahm [**{MemberName}**|**{MemberSid}**] in die globale Gruppe **{TargetUserName}** auf',
  ],
  [
    '4732',
    'added [**{MemberName}**|**{MemberSid}**] to the local group **{TargetUserName}**',
    'nahm [**{MemberName}**|**{MemberSid}**] in die lokale Gruppe **{TargetUserName}** auf',
  ],
  [
    '4756',
    'added [**{MemberName}**|**{MemberSid}**] to the universal group **{TargetUserName}**',
    'nahm [**{MemberName}**|**{MemberSid}**] in die universelle Gruppe **{TargetUserName}** auf',
  ],
  [
    '4729',
    'removed [**{MemberName}**|**{MemberSid}**] from the global group **{TargetUserName}**',
    'entfernte [**{MemberName}**|**{MemberSid}**] aus der globalen Gruppe **{TargetUserName}**',
  ],
  [
    '4733',
    'removed [**{MemberName}**|**{MemberSid}**] from the local group **{TargetUserName}**',
    'entfernte [**{MemberName}**|**{MemberSid}**] aus der lokalen Gruppe **{TargetUserName}**',
  ],
  [
    '4757',
    'removed [**{MemberName}**|**{MemberSid}**] from the universal group **{TargetUserName}**',
    'entfernte [**{MemberName}**|**{MemberSid}**] aus der universellen Gruppe **{TargetUserName}**',
  ],
  ['4738', 'changed user **{TargetUserName}**', 'änderte den Benutzer **{TargetUserName}**'],
  [
    '4740',
    '| user **{TargetUserName}** was locked out',
    '| der Benutzer **{TargetUserName}** wurde gesperrt',
  ],
  ['4767', 'unlocked user **{TargetUserName}**', 'entsperrte den Benutzer **{TargetUserName}**'],
  ['4768', 'asked for a Kerberos ticket', 'forderte ein Kerberos-Ticket an'],
  [
    '4769',
    'asked for a Kerberos ticket for service **{ServiceName}**',
    'forderte ein Kerberos-Ticket für den Dienst **{ServiceName}** an',
  ],
  ['4771', '| Kerberos refused **{TargetUserName}**', '| Kerberos wies **{TargetUserName}** ab'],
  [
    '4776',
    '| the credentials of **{TargetUserName}** were checked[ for {Workstation}]',
    '| die Anmeldedaten von **{TargetUserName}** wurden geprüft[, für {Workstation}]',
  ],
  [
    '4799',
    'listed the members of group **{TargetUserName}**',
    'rief die Mitglieder der Gruppe **{TargetUserName}** ab',
  ],
  ['5058', 'used key file **{KeyName}**', 'nutzte die Schlüsseldatei **{KeyName}**'],
  ['5061', 'used key **{KeyName}**', 'nutzte den Schlüssel **{KeyName}**'],
  [
    '5140',
    'opened share **{ShareName}**[ from {remote_address}]',
    'öffnete die Freigabe **{ShareName}**[, von {remote_address}]',
  ],
  [
    '5145',
    'checked access to **{RelativeTargetName}** on share **{ShareName}**',
    'prüfte den Zugriff auf **{RelativeTargetName}** in der Freigabe **{ShareName}**',
  ],
  [
    '5156',
    '| connection of **{Application}** permitted[ to {DestAddress}]',
    '| Verbindung von **{Application}** zugelassen[, zu {DestAddress}]',
  ],
  [
    '5157',
    '| connection of **{Application}** blocked[ to {DestAddress}]',
    '| Verbindung von **{Application}** blockiert[, zu {DestAddress}]',
  ],
  [
    '5158',
    '| **{Application}** bound port {SourcePort}',
    '| **{Application}** hat Port {SourcePort} belegt',
  ],
]

/** Marks refused operations. */
const FAILED = {
  en: '[ ({EventType=AUDIT_FAILURE}refused)]',
  de: '[ ({EventType=AUDIT_FAILURE}abgewiesen)]',
}

const definition = (en: string, de: string): CustomTypeDefinition => ({
  label: 'Windows',
  sentence: en,
  sentences: { de },
})

const OTHER = definition(
  '| event **{event_code}**[: {Category}][ on {Hostname}]',
  '| Ereignis **{event_code}**[: {Category}][ auf {Hostname}]',
)

/** Short names of channels, as practitioners use them. */
const CHANNELS: Readonly<Record<string, string>> = {
  'Microsoft-Windows-Sysmon/Operational': 'sysmon',
  'Microsoft-Windows-PowerShell/Operational': 'powershell',
}

/** `Windows PowerShell` -> `windows-powershell`. */
const channelName = (channel: string): string =>
  CHANNELS[channel] ??
  channel
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '-')
    .replaceAll(/^-+|-+$/g, '')

/** Events about a logon or logoff of the target. The subject only reports it. */
const OF_TARGET: ReadonlySet<string> = new Set(['4624', '4627', '4634', '4647', '4768', '4769'])

/** The name of the account without its domain: `pgustavo@THESHIRE.LOCAL` -> `pgustavo`. */
const accountOf = (record: JsonObject, key: string): string | undefined =>
  textIn(record[key])?.replace(/^[^\\]*\\|@.*$/g, '')

function usernameOf(record: JsonObject, id: string): string | null {
  const target = accountOf(record, 'TargetUserName')
  if (OF_TARGET.has(id) && target !== undefined) return target
  const keys = ['SubjectUserName', 'User', 'AccountName']
  return keys.map((key) => accountOf(record, key)).find((name) => name !== undefined) ?? null
}

function eventOf(record: JsonObject): PresetEvent | undefined {
  const { Channel: channel, EventID: given } = record
  const id = typeof given === 'number' ? String(given) : textIn(given)
  if (typeof channel !== 'string' || id === undefined || !/^\d+$/.test(id)) return undefined
  const name = channelName(channel)
  if (name === '') return undefined
  return {
    type: `windows:${name}:${id}`,
    username: usernameOf(record, id),
    data: withFacts(record, {
      occurred_at: timeIn(record['@timestamp']),
      event_code: id,
      remote_address: addressIn(record['IpAddress']),
    }),
  }
}

const security: CustomTypes = Object.fromEntries(
  ROWS.map(([id, en, de]) => [
    `windows:security:${id}`,
    definition(en + FAILED.en, de + FAILED.de),
  ]),
)

/**
 * Records of the Windows event log as NXLog and Winlogbeat's flat form have them: one object with `Channel`, `EventID` and the
 * event's data side by side. The type is `windows:<channel>:<id>`, such as `windows:security:4624`. Sentences
 * exist for the channel Security; events of other channels are named by their id.
 */
export const windowsSecurity: Preset = {
  name: 'windows',
  customTypes: { 'windows:*': OTHER, ...security },
  eventOf,
}
