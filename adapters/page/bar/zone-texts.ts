import { byLanguage } from '../data/language.js'

/** The texts of the choice of a time zone. */
export const zoneTexts = byLanguage({
  en: {
    title: 'Time zone',
    find: 'Find a city or a zone',
    local: (city: string) => `Local time, ${city}`,
    none: (text: string) => `No time zone is named ${text}`,
    more: (count: string) => `${count} more: type to find them`,
  },
  de: {
    title: 'Zeitzone',
    find: 'Stadt oder Zone suchen',
    local: (city: string) => `Ortszeit, ${city}`,
    none: (text: string) => `Keine Zeitzone heißt ${text}`,
    more: (count: string) => `${count} weitere: zum Finden tippen`,
  },
})
