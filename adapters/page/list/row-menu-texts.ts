import { byLanguage } from '../data/language.js'

const en = {
  title: 'This event',
  open: 'Open the event',
  filter: (filter: string) => `Filter: ${filter}`,
  compare: 'Compare with another event',
  copyLink: 'Open it and copy its link',
}

const de: typeof en = {
  title: 'Dieses Ereignis',
  open: 'Ereignis öffnen',
  filter: (filter) => `Filtern: ${filter}`,
  compare: 'Mit einem anderen Ereignis vergleichen',
  copyLink: 'Öffnen und den Link kopieren',
}

/** The texts of the menu of a row. */
export const rowMenuTexts = byLanguage({ en, de })
