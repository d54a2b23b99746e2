import { byLanguage } from '../data/language.js'

/** The texts of how events are displayed. */
export const displayTexts = byLanguage({
  en: { groups: 'Group', columns: 'Columns' },
  de: { groups: 'Gruppieren', columns: 'Spalten' },
})
