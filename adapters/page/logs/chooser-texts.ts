import { byLanguage } from '../data/language.js'

/** The texts of the page on which users choose logs. */
export const chooserTexts = byLanguage({
  en: {
    title: 'Choose logs',
    search: 'Search by key',
    logs: 'Logs',
    loading: 'Loading logs',
    none: 'No log matches.',
    more: 'Show more',
    failed: 'The logs could not be loaded.',
    again: 'Try again',
    found: (count: number) => (count === 1 ? '1 log' : `${count} logs`),
    show: (count: number) => (count === 1 ? 'Show 1 log' : `Show ${count} logs`),
    choose: 'Choose at least one log',
    limit: (max: number) => `At most ${max} logs can be shown together.`,
    clear: 'Clear selection',
    only: (key: string) => `Open ${key} alone`,
    open: 'Open',
  },
  de: {
    title: 'Protokolle auswählen',
    search: 'Nach Schlüssel suchen',
    logs: 'Protokolle',
    loading: 'Protokolle werden geladen',
    none: 'Kein Protokoll passt dazu.',
    more: 'Mehr anzeigen',
    failed: 'Die Protokolle konnten nicht geladen werden.',
    again: 'Erneut versuchen',
    found: (count) => (count === 1 ? '1 Protokoll' : `${count} Protokolle`),
    show: (count) => (count === 1 ? '1 Protokoll anzeigen' : `${count} Protokolle anzeigen`),
    choose: 'Mindestens ein Protokoll auswählen',
    limit: (max) => `Höchstens ${max} Protokolle lassen sich zusammen anzeigen.`,
    clear: 'Auswahl aufheben',
    only: (key) => `Nur ${key} öffnen`,
    open: 'Öffnen',
  },
})
