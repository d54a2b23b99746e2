import { formatNumber, formatPlural } from '../data/format.js'
import { byLanguage } from '../data/language.js'
import { texts } from '../ui/texts.js'

const en = {
  title: 'Export',
  heading: (events: string) => `Export ${events}`,
  format: 'Format',
  what: {
    ndjson:
      'Every event of this query, oldest first, with all attributes. One JSON object per line.',
    csv: 'Every event of this query, oldest first, with all attributes. Cells that a spreadsheet would run as a formula start with a single quote.',
  },
  shownColumns: (attributes: readonly string[]) =>
    attributes.length === 0
      ? 'Only the columns of every event, without attributes'
      : `Only the shown attributes, a column each: ${attributes.join(', ')}`,
  states: {
    running: 'Saving',
    done: 'Saved',
    stopped: 'Stopped',
    lost: 'Cut off',
    full: 'No space left',
    refused: 'Not permitted',
  },
  /** Shown when the export ends, even after the sheet is closed. */
  ended: {
    done: (count: number) => `${texts.common.events(count)} exported`,
    stopped: (count: number) => `Export stopped after ${texts.common.events(count)}`,
    lost: (count: number) => `Connection lost: export cut after ${texts.common.events(count)}`,
    full: (count: number) => `No space left: export cut after ${texts.common.events(count)}`,
    refused: () => 'The service refused the export',
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
  },
  shownColumns: (attributes) =>
    attributes.length === 0
      ? 'Nur die Spalten jedes Ereignisses, ohne Attribute'
      : `Nur die angezeigten Attribute, je eine Spalte: ${attributes.join(', ')}`,
  states: {
    running: 'Wird gespeichert',
    done: 'Gespeichert',
    stopped: 'Gestoppt',
    lost: 'Abgebrochen',
    full: 'Kein Speicherplatz mehr',
    refused: 'Nicht erlaubt',
  },
  ended: {
    done: (count) => `${texts.common.events(count)} exportiert`,
    stopped: (count) => `Export gestoppt, ${texts.common.events(count)} gespeichert`,
    lost: (count) => `Verbindung verloren: Export endet nach ${events(count)}`,
    full: (count) => `Kein Speicherplatz mehr: Export endet nach ${events(count)}`,
    refused: () => 'Der Dienst hat den Export abgelehnt',
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
