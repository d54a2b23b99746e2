import type { Texts } from '../languages/en.js'
import { formatNumber, formatPlural } from '../data/format.js'
import { language } from '../data/language.js'

/* The document preloads the file of its language, so it arrives together with the script. */
const load = {
  en: () => import('../languages/en.js'),
  de: () => import('../languages/de.js'),
}

const loaded = await load[language]()

/** The texts of the page in its language. */
export const texts: Texts = loaded.texts({ formatNumber, formatPlural })

/** The language of the sentences about events. */
export const { sentences } = loaded
