import { zone } from '../data/address.js'
import { byLanguage } from '../data/language.js'
import { ENGLISH, GERMAN, type TimeWords } from './time-words.js'
import type { TypedAt } from './typed-range.js'

/** The English words are understood in every language. */
const words = byLanguage<readonly TimeWords[]>({ en: [ENGLISH], de: [GERMAN, ENGLISH] })

/** The present context of typed times: the time, the zone and the language of the page. */
export const typedAt = (): TypedAt => ({ now: new Date(), zone: zone.value, words })
