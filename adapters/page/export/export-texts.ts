import { formatNumber, formatPlural } from '../data/format.js'
import { isolated } from '../data/isolated.js'
import { byLanguage } from '../data/language.js'
import { texts } from '../ui/texts.js'

const listed = (names: readonly string[]): string => names.map(isolated).join(', ')

const en = {
  title: 'Export',
  heading: (events: string) => `Export ${events}`,
  format: 'Format',
  what: {
    ndjson:
      'Every event of this query, oldest first, with all attributes. One JSON object per line.',
    csv: 'Every event of this query, oldest first, with all attributes. Cells that a spreadsheet would run as a formula start with a single quote.',
    parquet:
      'Every event of this query, oldest first, with all attributes, in columns that DuckDB, pandas and data warehouses read.',
    cloudevents:
      'Every event of this query, oldest first, with all attributes. One event of CloudEvents 1.0 per line.',
    ocsf: 'Every event of this query, oldest first, with all attributes. One event of OCSF 1.8.0 per line, for security tools.',
    otlp: 'Every event of this query, oldest first, with all attributes. One log request of OpenTelemetry per line.',
  },
  shownColumns: (attributes: readonly string[]) =>
    attributes.length === 0
      ? 'Only the columns of every event, without attributes'
      : `Only the shown attributes, a column each: ${listed(attributes)}`,
  additionalColumns: (attributes: readonly string[]) =>
    `A column for each shown attribute too: ${listed(attributes)}`,
  states: {
    running: 'Saving',
    done: 'Saved',
    stopped: 'Stopped',
    lost: 'Cut off',
    full: 'No space left',
    unavailable: 'Not available',
    refused: 'Not permitted',
  },
  /* Shown when the export ends, even after the sheet is closed. */
  saved: (amount: string) => `${amount} exported`,
  cut: {
    stopped: (count: number) => `Export stopped after ${texts.common.events(count)}`,
    lost: (count: number) => `Connection lost: export cut after ${texts.common.events(count)}`,
    full: (count: number) => `No space left: export cut after ${texts.common.events(count)}`,
  },
  /** For formats whose incomplete files cannot be read. */
  discarded: {
    stopped: 'Export stopped: the incomplete file was discarded',
    lost: 'Connection lost: the incomplete file was discarded',
    full: 'No space left: the incomplete file was discarded',
  },
  noFile: {
    unavailable:
      'The service cannot write Parquet: the package hyparquet-writer is not installed on its server',
    refused: 'The service refused the export',
  },
  of: (count: number, total: number, isExact: boolean) =>
    `${formatNumber(count)} of ${isExact ? formatNumber(total) : texts.common.atLeast(formatNumber(Math.max(count, total)))}`,
  goesOn: 'Continues if you change the filters',
  start: (format: string) => `Export ${format}`,
  stop: 'Stop',
  copyCurl: 'Copy curl',
}

/** In the dative. */
const events = (count: number): string => formatPlural(count, 'Ereignis', 'Ereignissen')

const de: typeof en = {
  title: 'Export',
  heading: (events) => `${events} exportieren`,
  format: 'Format',
  what: {
    ndjson:
      'Alle Ereignisse dieser Abfrage, älteste zuerst, mit allen Attributen. Ein JSON-Objekt je Zeile.',
    csv: 'Alle Ereignisse dieser Abfrage, älteste zuerst, mit allen Attributen. Zellen, die eine Tabellenkalkulation als Formel ausführen würde, beginnen mit einem einfachen Anführungszeichen.',
    parquet:
      'Alle Ereignisse dieser Abfrage, älteste zuerst, mit allen Attributen, in Spalten, die DuckDB, pandas und Data-Warehouses lesen.',
    cloudevents:
      'Alle Ereignisse dieser Abfrage, älteste zuerst, mit allen Attributen. Ein Ereignis von CloudEvents 1.0 je Zeile.',
    ocsf: 'Alle Ereignisse dieser Abfrage, älteste zuerst, mit allen Attributen. Ein Ereignis von OCSF 1.8.0 je Zeile, für Sicherheitswerkzeuge.',
    otlp: 'Alle Ereignisse dieser Abfrage, älteste zuerst, mit allen Attributen. Eine Log-Anfrage von OpenTelemetry je Zeile.',
  },
  shownColumns: (attributes) =>
    attributes.length === 0
      ? 'Nur die Spalten jedes Ereignisses, ohne Attribute'
      : `Nur die angezeigten Attribute, je eine Spalte: ${listed(attributes)}`,
  additionalColumns: (attributes) =>
    `Auch je eine Spalte für die angezeigten Attribute: ${listed(attributes)}`,
  states: {
    running: 'Wird gespeichert',
    done: 'Gespeichert',
    stopped: 'Gestoppt',
    lost: 'Abgebrochen',
    full: 'Kein Speicherplatz mehr',
    unavailable: 'Nicht verfügbar',
    refused: 'Nicht erlaubt',
  },
  saved: (amount) => `${amount} exportiert`,
  cut: {
    stopped: (count) => `Export gestoppt, ${texts.common.events(count)} gespeichert`,
    lost: (count) => `Verbindung verloren: Export endet nach ${events(count)}`,
    full: (count) => `Kein Speicherplatz mehr: Export endet nach ${events(count)}`,
  },
  discarded: {
    stopped: 'Export gestoppt: Die unvollständige Datei wurde verworfen',
    lost: 'Verbindung verloren: Die unvollständige Datei wurde verworfen',
    full: 'Kein Speicherplatz mehr: Die unvollständige Datei wurde verworfen',
  },
  noFile: {
    unavailable:
      'Der Dienst kann kein Parquet schreiben: Auf seinem Server ist das Paket hyparquet-writer nicht installiert',
    refused: 'Der Dienst hat den Export abgelehnt',
  },
  of: (count, total, isExact) =>
    `${formatNumber(count)} von ${isExact ? formatNumber(total) : texts.common.atLeast(formatNumber(Math.max(count, total)))}`,
  goesOn: 'Läuft weiter, wenn Sie die Filter ändern',
  start: (format) => `${format} exportieren`,
  stop: 'Stoppen',
  copyCurl: 'curl-Befehl kopieren',
}

/** The texts of the export, which is loaded on demand. */
export const exportTexts = byLanguage({ en, de })
