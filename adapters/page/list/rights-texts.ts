import { byLanguage } from '../data/language.js'

/** The texts about rights that the user does not have. Loaded on demand. */
export const rightsTexts = byLanguage({
  en: {
    noCounts: 'You may not count events, so there are no chart and no facets.',
    noExport: 'You may not export events or make reports.',
  },
  de: {
    noCounts: 'Sie dürfen Ereignisse nicht zählen. Daher fehlen Diagramm und Facetten.',
    noExport: 'Sie dürfen Ereignisse nicht exportieren und keine Berichte erstellen.',
  },
})
