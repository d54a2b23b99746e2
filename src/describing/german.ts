import type { Family, SentenceLanguage } from './language.js'

/*
 * German sentences. The sentences of single types are in the registry of event types. The page loads this module in
 * one file with its texts, so it imports only types.
 */

const verbs: SentenceLanguage['verbs'] = {
  abort: ['abbrechen', 'abgebrochen'],
  add: ['hinzufügen', 'hinzugefügt'],
  approve: ['genehmigen', 'genehmigt'],
  archive: ['archivieren', 'archiviert'],
  build: ['erstellen', 'erstellt'],
  cancel: ['abbrechen', 'abgebrochen'],
  cancelled: ['abbrechen', 'abgebrochen'],
  completed: ['abschließen', 'abgeschlossen'],
  continue: ['fortsetzen', 'fortgesetzt'],
  create: ['anlegen', 'angelegt'],
  delete: ['löschen', 'gelöscht'],
  deploy: ['ausrollen', 'ausgerollt'],
  destroy: ['löschen', 'gelöscht'],
  disable: ['deaktivieren', 'deaktiviert'],
  disabled: ['deaktivieren', 'deaktiviert'],
  enable: ['aktivieren', 'aktiviert'],
  enabled: ['aktivieren', 'aktiviert'],
  export: ['exportieren', 'exportiert'],
  fetch: ['abrufen', 'abgerufen'],
  finish: ['abschließen', 'abgeschlossen'],
  import: ['importieren', 'importiert'],
  pause: ['anhalten', 'angehalten'],
  publish: ['veröffentlichen', 'veröffentlicht'],
  refresh: ['aktualisieren', 'aktualisiert'],
  reject: ['ablehnen', 'abgelehnt'],
  remove: ['entfernen', 'entfernt'],
  rename: ['umbenennen', 'umbenannt'],
  restore: ['wiederherstellen', 'wiederhergestellt'],
  resume: ['fortsetzen', 'fortgesetzt'],
  retry: ['wiederholen', 'wiederholt'],
  send: ['senden', 'gesendet'],
  start: ['starten', 'gestartet'],
  started: ['starten', 'gestartet'],
  stop: ['stoppen', 'gestoppt'],
  stopped: ['stoppen', 'gestoppt'],
  success: ['abschließen', 'abgeschlossen'],
  update: ['ändern', 'geändert'],
}

type Article = 'einen' | 'eine' | 'ein' | 'die'

/** Definite articles in the accusative by the indefinite ones; nouns without a singular only have `die`. */
const DEFINITE: Readonly<Record<Article, string>> = {
  einen: 'den',
  eine: 'die',
  ein: 'das',
  die: 'die',
}

/** Owners in the genitive. */
const OWNERS: Readonly<Record<string, string>> = {
  change: 'der Änderung',
  workflow_run: 'des Workflow-Laufs',
}

/** Nouns with their article in the accusative, and their accusative if it differs. */
const nouns: Readonly<
  Record<string, readonly [noun: string, article: Article, accusative?: string]>
> = {
  action: ['Aktion', 'eine'],
  agent: ['Agent', 'einen', 'Agenten'],
  asset: ['Asset', 'ein'],
  authorisation_policy: ['Berechtigungsrichtlinie', 'eine'],
  authorisation_rule: ['Berechtigungsregel', 'eine'],
  bookmark: ['Lesezeichen', 'ein'],
  change: ['Änderung', 'eine'],
  database_cluster: ['Datenbankcluster', 'einen'],
  email: ['E-Mail', 'eine'],
  environment: ['Umgebung', 'eine'],
  event: ['Ereignis', 'ein'],
  event_filter: ['Ereignisfilter', 'einen'],
  event_subscriber: ['Abonnent', 'einen', 'Abonnenten'],
  git_remote: ['Git-Remote', 'ein'],
  group: ['Gruppe', 'eine'],
  image: ['Image', 'ein'],
  image_build: ['Image-Build', 'einen'],
  job: ['Job', 'einen'],
  node: ['Knoten', 'einen'],
  notification: ['Benachrichtigung', 'eine'],
  notification_channel: ['Benachrichtigungskanal', 'einen'],
  policy: ['Richtlinie', 'eine'],
  policy_assignment: ['Richtlinienzuweisung', 'eine'],
  policy_rule: ['Richtlinienregel', 'eine'],
  project: ['Projekt', 'ein'],
  properties: ['Eigenschaften', 'die'],
  properties_version: ['Version der Eigenschaften', 'eine'],
  rule: ['Regel', 'eine'],
  scheduled_change: ['Geplante Änderung', 'eine', 'geplante Änderung'],
  scheduled_workflow: ['Geplanter Workflow', 'einen', 'geplanten Workflow'],
  secret: ['Secret', 'ein'],
  settings: ['Einstellungen', 'die'],
  settings_version: ['Version der Einstellungen', 'eine'],
  site: ['Standort', 'einen'],
  statistics: ['Statistiken', 'die'],
  step: ['Schritt', 'einen'],
  subscription: ['Abonnement', 'ein'],
  template: ['Vorlage', 'eine'],
  template_version: ['Vorlagenversion', 'eine'],
  token: ['Token', 'ein'],
  user: ['Benutzer', 'einen'],
  workflow: ['Workflow', 'einen'],
  workflow_run: ['Workflow-Lauf', 'einen'],
  workflow_step: ['Workflow-Schritt', 'einen'],
}

const REASON = '[: {@reason}]'
const IN_PROJECT = '[ im Projekt {@project:name}]'
const REQUEST = '**{request_method} {@route}**'
const MESSAGE = '[: “{message}”|: “{request_body_message}”]'
const DONE = `hat {@thing}${IN_PROJECT} {@past} | {@thing}${IN_PROJECT} {@past}`
const STATED = `| {@statement}[ **{name}**| **{code}**]${REASON}`

const families: readonly Family[] = [
  [
    'error:api:controller:unhandled',
    '',
    `hat einen Fehler ausgelöst[ bei ${REQUEST}]${REASON} | [${REQUEST}|Anfrage] fehlgeschlagen${REASON}`,
  ],
  ['error:api:controller:refused', '', `| [${REQUEST}|Anfrage] abgelehnt${REASON}`],
  [
    'warn:audit_log:gap',
    '',
    '| [**{count}** {count:Ereignis fehlt/Ereignisse fehlen}|Ereignisse fehlen] im Protokoll[ seit {first_at:time}]',
  ],
  [
    'info:data_cleanup:events',
    '',
    '| [**{removed_count}** {removed_count:Ereignis/Ereignisse}|Ereignisse][ nach {filters_max_age_days} {filters_max_age_days:Tag/Tagen}] gelöscht',
  ],
  [
    'info:data_cleanup:statistics',
    '',
    '| Statistiken der Abfrageplanung [für **{analyzed_tables:count}** {analyzed_tables:Tabelle/Tabellen} aktualisiert|nicht aktualisiert: {skipped_reason}|aktualisiert]',
  ],
  [
    'info:data_cleanup:',
    '',
    '| [**{removed_count}** {removed_count:Eintrag/Einträge}|Einträge] gelöscht ({@action})[, Regel **{rule}**]',
  ],
  ['error:data_cleanup:events', '', `| Ereignisse konnten nicht gelöscht werden${REASON}`],
  [
    'error:data_cleanup:statistics',
    '',
    `| Statistiken der Abfrageplanung konnten nicht aktualisiert werden${REASON}`,
  ],
  ['error:data_cleanup:', '', `| Einträge konnten nicht gelöscht werden ({@action})${REASON}`],
  [
    'api:unmatched:',
    '',
    `hat ${REQUEST} gesendet, ohne dass es diese Adresse gibt | ${REQUEST} gesendet, ohne dass es diese Adresse gibt`,
  ],
  ['', ':denied', 'durfte {@thing} nicht {@verb} | {@thing} nicht {@past}: keine Berechtigung'],
  [
    'error:',
    '',
    `konnte {@thing}${IN_PROJECT} nicht {@verb}${REASON} | {@thing}${IN_PROJECT} konnte nicht {@past} werden${REASON}`,
  ],
  ['error:', '', `wurde bei ${REQUEST} abgewiesen${REASON} | ${REQUEST} abgewiesen${REASON}`],
  ['error:', '', `| {@statement}[ **{name}**| **{code}**] fehlgeschlagen${REASON}`],
  ['', ':failed', `| {@thing} fehlgeschlagen${REASON}`],
  ['api:', ':error', `| {@thing} fehlgeschlagen${REASON}`],
  ['warn:', '', STATED],
  ['warning:', '', STATED],
  [
    '',
    ':update',
    `hat {@thing}${IN_PROJECT} geändert[ ({@changes})][: {@fields}] | {@thing}${IN_PROJECT} geändert[ ({@changes})][: {@fields}]`,
  ],
  ['', ':create', DONE],
  ['', ':destroy', DONE],
  ['', '', `hat {@thing} {@past}${MESSAGE} | {@thing} {@past}${MESSAGE}`],
  ['', '', STATED],
]

/** German, for the `language` of `describeEvent`. */
export const german: SentenceLanguage = {
  tag: 'de',
  quotes: ['„', '“'],
  andMore: 'und weitere',
  custom: 'eigenes',
  thing: 'Objekt',
  fields: 'Feld/Felder',
  verbs,
  families,
  postscript:
    '[{unfinished=true}, nicht beendet][{collapsed=true} ({count} mal seit {first_at:time})][ ({suppressed_count} weitere unterdrückt[ seit {suppressed_since:time}])]',
  onBehalfOf: (user, other) => `${user} im Auftrag von ${other}`,
  nounOf: (kind) => (Object.hasOwn(nouns, kind) ? nouns[kind]![0] : undefined),
  ofOwner: (kind, words) =>
    (Object.hasOwn(OWNERS, kind) ? OWNERS[kind] : undefined) ?? `von ${words}`,
  objectOf: (kind, words, { isNamed }) => {
    if (!Object.hasOwn(nouns, kind)) return words
    const [, article, object = words] = nouns[kind]!
    return `${isNamed ? DEFINITE[article] : article} ${object}`
  },
}
