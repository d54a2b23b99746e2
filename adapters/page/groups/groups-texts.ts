import { formatNumber, formatPlural } from '../data/format.js'
import { byLanguage } from '../data/language.js'
import { texts } from '../ui/texts.js'

/** The texts of the table of groups, which is loaded on demand. */
export const groupsTexts = byLanguage({
  en: {
    open: 'Group',
    region: 'Groups',
    by: 'Group by',
    and: 'and by',
    numbers: 'Percentiles of',
    optional: 'optional',
    apply: 'Show',
    close: 'Back to the list',
    attribute: 'attribute',
    events: 'Events',
    overTime: 'Over time',
    percentile: (share: number, name: string) => `p${share} of ${name}`,
    missing: 'no value',
    loading: 'Events are being read',
    none: 'No event matches',
    complete: (groups: number, total: number) =>
      `${formatPlural(groups, 'group', 'groups')} of ${texts.common.events(total)}`,
    more: (shown: number) => `The ${formatNumber(shown)} most frequent are shown.`,
    estimated: (read: number) =>
      `${texts.common.events(read)} were read. Figures with ≈ are estimates, with their 95 % confidence interval.`,
    incomplete: 'Other groups may be missing.',
    atLeast: (text: string) => `At least ${text}`,
    about: (text: string) => `about ${text}`,
    show: (events: string, values: string) => `Show ${events}: ${values}`,
    most: (count: string, time: string) => `Most: ${count} from ${time}`,
    interval: (low: string, high: string) => `${low} to ${high}`,
    unbounded: '?',
    failed: 'The groups could not be loaded.',
    again: 'Try again',
  },
  de: {
    open: 'Gruppieren',
    region: 'Gruppen',
    by: 'Gruppieren nach',
    and: 'und nach',
    numbers: 'Perzentile von',
    optional: 'optional',
    apply: 'Anzeigen',
    close: 'Zurück zur Liste',
    attribute: 'Attribut',
    events: 'Ereignisse',
    overTime: 'Zeitverlauf',
    percentile: (share: number, name: string) => `p${share} von ${name}`,
    missing: 'kein Wert',
    loading: 'Ereignisse werden gelesen',
    none: 'Kein Ereignis passt',
    complete: (groups: number, total: number) =>
      `${formatPlural(groups, 'Gruppe', 'Gruppen')} aus ${formatPlural(total, 'Ereignis', 'Ereignissen')}`,
    more: (shown: number) => `Die ${formatNumber(shown)} häufigsten werden angezeigt.`,
    estimated: (read: number) =>
      `${formatPlural(read, 'Ereignis wurde', 'Ereignisse wurden')} gelesen. Zahlen mit ≈ sind Schätzungen mit ihrem 95-%-Konfidenzintervall.`,
    incomplete: 'Weitere Gruppen können fehlen.',
    atLeast: (text: string) => `Mindestens ${text}`,
    about: (text: string) => `etwa ${text}`,
    show: (events: string, values: string) => `${events} anzeigen: ${values}`,
    most: (count: string, time: string) => `Höchstwert: ${count} ab ${time}`,
    interval: (low: string, high: string) => `${low} bis ${high}`,
    unbounded: '?',
    failed: 'Die Gruppen konnten nicht geladen werden.',
    again: 'Erneut versuchen',
  },
})
