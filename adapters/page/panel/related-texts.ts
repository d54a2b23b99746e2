import { byLanguage } from '../data/language.js'

/** Texts of the related events that the first script does not need. */
export const relatedTexts = byLanguage({
  en: {
    session: 'Same session',
    back: 'Back to the earlier list',
    history: 'History',
    historyOf: (resource: string) => `History of ${resource}`,
    compare: 'Compare with…',
  },
  de: {
    session: 'Gleiche Sitzung',
    back: 'Zurück zur vorherigen Liste',
    history: 'Verlauf',
    historyOf: (resource: string) => `Verlauf von ${resource}`,
    compare: 'Vergleichen mit …',
  },
})
