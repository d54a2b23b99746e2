import { byLanguage } from '../data/language.js'

const en = {
  title: 'Commands',
  builder: 'Filter builder',
  report: 'Report',
  link: 'Copy link',
  curl: 'Copy as curl',
  zone: (zone: string) => `Time zone: ${zone}`,
  pause: 'Pause live',
  resume: 'Resume live',
  ledger: 'Ledger',
  theme: 'Light or dark colours',
  keys: 'Keyboard shortcuts',
}

const de: typeof en = {
  title: 'Befehle',
  builder: 'Filter zusammenstellen',
  report: 'Bericht',
  link: 'Link kopieren',
  curl: 'Als curl-Befehl kopieren',
  zone: (zone) => `Zeitzone: ${zone}`,
  pause: 'Live anhalten',
  resume: 'Live fortsetzen',
  ledger: 'Hauptbuch',
  theme: 'Helle oder dunkle Farben',
  keys: 'Tastenkürzel',
}

/** The texts of the menu of commands. */
export const moreTexts = byLanguage({ en, de })
