import { byLanguage } from '../data/language.js'
import type { TypedProblem } from './typed-conditions.js'

interface BarTexts {
  /** Reason why a typed text is no filter. */
  readonly problems: Readonly<Record<TypedProblem['key'], (text: string) => string>>
  readonly unknown: (names: string) => string
  readonly noneOfType: (type: string) => string
  readonly typed: string
  readonly typedExample: string
  readonly notUnderstood: string
  readonly sinceType: string
  readonly apply: string
  readonly changeZone: string
}

/** The texts of typed conditions and times, which are read on demand. */
export const barTexts: BarTexts = byLanguage({
  en: {
    problems: {
      noValue: (text) => `A value is missing after ${text}`,
      oneValue: (text) => `${text} takes one value`,
      noLevel: (text) => `${text} is not a level: error, warn, audit, info, api or custom`,
    },
    unknown: (names) => `unknown attribute: ${names}`,
    noneOfType: (type) => `No event has the type ${type}`,
    typed: 'Typed time',
    typedExample: 'yesterday 14:00-15:00',
    notUnderstood: 'Not a time. Examples: 2026-11-20, mon, 14:00-15:00, since yesterday',
    sinceType: 'Since the newest event of type',
    apply: 'Apply',
    changeZone: 'Change',
  },
  de: {
    problems: {
      noValue: (text) => `Nach ${text} fehlt ein Wert`,
      oneValue: (text) => `${text} braucht genau einen Wert`,
      noLevel: (text) => `${text} ist keine Stufe: error, warn, audit, info, api oder custom`,
    },
    unknown: (names) => `unbekanntes Attribut: ${names}`,
    noneOfType: (type) => `Kein Ereignis hat den Typ ${type}`,
    typed: 'Zeit eingeben',
    typedExample: 'gestern 14:00-15:00',
    notUnderstood: 'Keine Zeitangabe. Beispiele: 20.11.2026, mo, 14:00-15:00, seit gestern',
    sinceType: 'Seit dem neuesten Ereignis des Typs',
    apply: 'Anwenden',
    changeZone: 'Ändern',
  },
})
