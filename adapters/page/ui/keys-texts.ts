import { byLanguage } from '../data/language.js'

const en = {
  title: 'Keyboard',
  groups: { move: 'Move', read: 'Read', find: 'Find', take: 'Copy and export' },
  commands: {
    older: 'Older event',
    newer: 'Newer event',
    newest: 'Newest event',
    cell: 'Previous or next cell',
    window: 'Earlier or later part of the chart',
    open: 'Open the event',
    close: 'Close picker, dialog or panel',
    json: 'Changes or JSON',
    related: 'Related events',
    link: 'Copy link to the event',
    filter: 'Filter',
    builder: 'Filter builder',
    is: 'Only this value',
    isNot: 'Not this value',
    takeOut: 'Remove the last filter',
    zone: 'Local time or UTC',
    curl: 'Copy the query as curl',
    export: 'Export',
    live: 'Pause or resume live',
    waiting: 'Show waiting events',
    keys: 'This list',
  },
  letters: 'Single-letter shortcuts outside of fields',
}

const de: typeof en = {
  title: 'Tastatur',
  groups: {
    move: 'Bewegen',
    read: 'Lesen',
    find: 'Suchen',
    take: 'Kopieren und exportieren',
  },
  commands: {
    older: 'Älteres Ereignis',
    newer: 'Neueres Ereignis',
    newest: 'Neuestes Ereignis',
    cell: 'Vorige oder nächste Zelle',
    window: 'Früherer oder späterer Teil des Diagramms',
    open: 'Ereignis öffnen',
    close: 'Auswahl, Dialog oder Seitenleiste schließen',
    json: 'Änderungen oder JSON',
    related: 'Verwandte Ereignisse',
    link: 'Link zum Ereignis kopieren',
    filter: 'Filtern',
    builder: 'Filter zusammenstellen',
    is: 'Nur dieser Wert',
    isNot: 'Nicht dieser Wert',
    takeOut: 'Letzten Filter entfernen',
    zone: 'Ortszeit oder UTC',
    curl: 'Abfrage als curl-Befehl kopieren',
    export: 'Exportieren',
    live: 'Anhalten oder fortsetzen',
    waiting: 'Wartende Ereignisse anzeigen',
    keys: 'Diese Liste',
  },
  letters: 'Tastenkürzel aus einem Buchstaben, außerhalb von Feldern',
}

/** The texts of the list of keyboard shortcuts, which is loaded on demand. */
export const keysTexts = byLanguage({ en, de })
