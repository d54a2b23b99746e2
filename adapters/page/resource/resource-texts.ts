import { byLanguage } from '../data/language.js'

/** The texts of the panel of one resource. */
export const resourceTexts = byLanguage({
  en: {
    title: (name: string) => `History of ${name}`,
    all: 'Open in the audit page',
    newTab: '(opens in a new tab)',
    loading: 'Loading events',
    empty: 'No event is recorded for this resource.',
    hidden: 'You may see no event of this resource.',
    older: 'Show older events',
    failed: 'The events could not be loaded.',
    denied: 'You may not read these events.',
    signIn: 'Sign in to the service to see these events.',
    again: 'Try again',
    invalid: 'The resource must be a path such as /api/orders/1.',
  },
  de: {
    title: (name: string) => `Verlauf von ${name}`,
    all: 'Im Audit-Protokoll öffnen',
    newTab: '(öffnet einen neuen Tab)',
    loading: 'Ereignisse werden geladen',
    empty: 'Zu dieser Ressource ist kein Ereignis aufgezeichnet.',
    hidden: 'Sie dürfen kein Ereignis dieser Ressource sehen.',
    older: 'Ältere Ereignisse anzeigen',
    failed: 'Die Ereignisse konnten nicht geladen werden.',
    denied: 'Sie dürfen diese Ereignisse nicht lesen.',
    signIn: 'Melden Sie sich beim Dienst an, um diese Ereignisse zu sehen.',
    again: 'Erneut versuchen',
    invalid: 'Die Ressource muss ein Pfad wie /api/orders/1 sein.',
  },
})
