import { formatNumber, formatPlural } from '../data/format.js'
import { byLanguage } from '../data/language.js'

/** The texts of reports and of the printed list, which are loaded on demand. */
export const printTexts = byLanguage({
  en: {
    report: 'Report',
    defaultTitle: (service: string) =>
      service === '' ? 'Audit report' : `Audit report: ${service}`,
    titleField: 'Title of the report',
    print: 'Print',
    making: 'The report is being made',
    madeBy: 'Requested by',
    madeAt: 'Requested on',
    printedAt: 'Printed on',
    query: 'Query',
    range: 'Time range',
    address: 'Address',
    zone: 'Time zone',
    count: 'Events',
    digest: 'SHA-256',
    check: 'Check',
    everything: 'All events',
    oldestFirst: (events: string) => `${events}, oldest first`,
    open: (count: number) =>
      `${formatPlural(count, 'event is', 'events are')} still open and may change. After a change, the export has another digest.`,
    checkHint:
      'This command prints the same digest as long as these events are neither changed nor removed:',
    columns: {
      log: 'Log',
      time: 'Time',
      level: 'Level',
      who: 'Who',
      what: 'What happened',
      type: 'Type',
      source: 'Source',
      id: 'Id',
    },
    table: 'Events of the report',
    tooMany: (total: string, max: number) =>
      `A report has at most ${formatNumber(max)} events, and ${total} match. Add filters or choose a shorter time range. An export has no limit.`,
    tooLarge:
      'The events are too large for a report. Add filters or choose a shorter time range. An export has no limit.',
    denied: 'Your role may not make reports.',
    failed: (detail: string) =>
      `The report could not be made${detail === '' ? '.' : `: ${detail}`}`,
    again: 'Try again',
    loaded: (loaded: string, total: string) => `${loaded} loaded, of ${total} that match`,
  },
  de: {
    report: 'Bericht',
    defaultTitle: (service: string) => (service === '' ? 'Prüfbericht' : `Prüfbericht: ${service}`),
    titleField: 'Titel des Berichts',
    print: 'Drucken',
    making: 'Der Bericht wird erstellt',
    madeBy: 'Angefordert von',
    madeAt: 'Angefordert am',
    printedAt: 'Gedruckt am',
    query: 'Abfrage',
    range: 'Zeitraum',
    address: 'Adresse',
    zone: 'Zeitzone',
    count: 'Ereignisse',
    digest: 'SHA-256',
    check: 'Prüfen',
    everything: 'Alle Ereignisse',
    oldestFirst: (events: string) => `${events}, älteste zuerst`,
    open: (count: number) =>
      `${formatPlural(count, 'Ereignis ist', 'Ereignisse sind')} noch offen und kann sich ändern. Nach einer Änderung hat der Export eine andere Prüfsumme.`,
    checkHint:
      'Dieser Befehl gibt dieselbe Prüfsumme aus, solange die Ereignisse weder geändert noch gelöscht werden:',
    columns: {
      log: 'Protokoll',
      time: 'Zeit',
      level: 'Stufe',
      who: 'Wer',
      what: 'Was geschah',
      type: 'Typ',
      source: 'Quelle',
      id: 'ID',
    },
    table: 'Ereignisse des Berichts',
    tooMany: (total: string, max: number) =>
      `Ein Bericht enthält höchstens ${formatNumber(max)} Ereignisse, gefunden wurden ${total}. Ergänzen Sie Filter, oder wählen Sie einen kürzeren Zeitraum. Ein Export hat keine Grenze.`,
    tooLarge:
      'Die Ereignisse sind zu groß für einen Bericht. Ergänzen Sie Filter, oder wählen Sie einen kürzeren Zeitraum. Ein Export hat keine Grenze.',
    denied: 'Ihre Rolle darf keine Berichte erstellen.',
    failed: (detail: string) =>
      `Der Bericht konnte nicht erstellt werden${detail === '' ? '.' : `: ${detail}`}`,
    again: 'Erneut versuchen',
    loaded: (loaded: string, total: string) => `${loaded} geladen, von insgesamt ${total}`,
  },
})
