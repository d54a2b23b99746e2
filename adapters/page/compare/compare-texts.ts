import { formatPlural } from '../data/format.js'
import { byLanguage } from '../data/language.js'

/** The texts of the comparison of two events, which is loaded on demand. */
export const compareTexts = byLanguage({
  en: {
    region: 'Comparison',
    detail: 'Comparison in detail',
    title: 'Two events side by side',
    loading: 'Loading the events',
    link: 'Copy link to this comparison',
    swap: 'Swap sides',
    attribute: 'Attribute',
    first: 'First event',
    second: 'Second event',
    open: 'Open event',
    sameTime: 'at the same time',
    later: (duration: string) => `${duration} after the first`,
    earlier: (duration: string) => `${duration} before the first`,
    differences: (count: number) =>
      count === 0 ? 'No attribute differs' : formatPlural(count, 'difference', 'differences'),
    showEqual: (count: number) =>
      `Show ${formatPlural(count, 'equal attribute', 'equal attributes')}`,
    hideEqual: (count: number) =>
      `Hide ${formatPlural(count, 'equal attribute', 'equal attributes')}`,
    kinds: {
      equal: 'equal',
      changed: 'different',
      left: 'only in the first',
      right: 'only in the second',
    },
    missing: 'missing',
    states: {
      missing: 'One of the events does not exist, or you may not read it.',
      denied: 'Your role may not read single events.',
      failed: 'The events could not be loaded.',
    },
    again: 'Try again',
  },
  de: {
    region: 'Vergleich',
    detail: 'Vergleich im Einzelnen',
    title: 'Zwei Ereignisse im Vergleich',
    loading: 'Die Ereignisse werden geladen',
    link: 'Link zu diesem Vergleich kopieren',
    swap: 'Seiten tauschen',
    attribute: 'Attribut',
    first: 'Erstes Ereignis',
    second: 'Zweites Ereignis',
    open: 'Ereignis öffnen',
    sameTime: 'zur selben Zeit',
    later: (duration: string) => `${duration} nach dem ersten`,
    earlier: (duration: string) => `${duration} vor dem ersten`,
    differences: (count: number) =>
      count === 0
        ? 'Kein Attribut ist verschieden'
        : formatPlural(count, 'Unterschied', 'Unterschiede'),
    showEqual: (count: number) =>
      `${formatPlural(count, 'gleiches Attribut', 'gleiche Attribute')} anzeigen`,
    hideEqual: (count: number) =>
      `${formatPlural(count, 'gleiches Attribut', 'gleiche Attribute')} ausblenden`,
    kinds: {
      equal: 'gleich',
      changed: 'verschieden',
      left: 'nur im ersten',
      right: 'nur im zweiten',
    },
    missing: 'fehlt',
    states: {
      missing: 'Eines der Ereignisse existiert nicht, oder Sie dürfen es nicht lesen.',
      denied: 'Ihre Rolle darf einzelne Ereignisse nicht lesen.',
      failed: 'Die Ereignisse konnten nicht geladen werden.',
    },
    again: 'Erneut versuchen',
  },
})
