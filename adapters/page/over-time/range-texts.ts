import { byLanguage } from '../data/language.js'

/** The texts of ranges that the page chose itself. */
export const rangeTexts = byLanguage({
  en: { replaced: 'No event is in the last 24 hours. This is the range of all events.' },
  de: {
    replaced:
      'In den letzten 24 Stunden gibt es kein Ereignis. Gezeigt wird der Zeitraum aller Ereignisse.',
  },
})
