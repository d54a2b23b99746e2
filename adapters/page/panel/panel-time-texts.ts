import { byLanguage } from '../data/language.js'

/** The texts of ranges that start at the open event, and of its log. */
export const panelTimeTexts = byLanguage({
  en: { since: 'Show since this event', log: 'Log' },
  de: { since: 'Ab diesem Ereignis anzeigen', log: 'Protokoll' },
})
