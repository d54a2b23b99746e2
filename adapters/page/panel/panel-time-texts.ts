import { byLanguage } from '../data/language.js'

/** The texts of ranges that start at the open event. */
export const panelTimeTexts = byLanguage({
  en: { since: 'Show since this event' },
  de: { since: 'Ab diesem Ereignis anzeigen' },
})
