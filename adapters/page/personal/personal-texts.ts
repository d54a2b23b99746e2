import { byLanguage } from '../data/language.js'

/** The texts of encrypted values, which are loaded on demand. */
export const personalTexts = byLanguage({
  en: {
    title: 'Personal',
    encrypted: 'Personal data, encrypted',
    erased: (date: string) => `Personal data erased on ${date}`,
    shown: 'Personal data, shown in this event',
    tag: 'personal',
    changeEncrypted: 'encrypted',
    changeErased: 'erased',
    all: 'All events of this person',
    show: 'Show',
    hide: 'Hide',
    unavailable: 'The keys cannot be reached, so the values cannot be shown now.',
    denied: 'Your role may not see personal data.',
    stateLacks: 'Encrypted and erased personal values are missing here.',
    partLacks: 'Personal values of this change are encrypted or erased.',
    sealedTitle: (names: string) => `“${names}” is encrypted`,
    sealedText:
      'Events cannot be found, sorted or counted by encrypted values, so nothing was searched. To find the events of a person, open one of them and choose “All events of this person”.',
  },
  de: {
    title: 'Person',
    encrypted: 'Personenbezogene Daten, verschlüsselt',
    erased: (date) => `Personenbezogene Daten gelöscht am ${date}`,
    shown: 'Personenbezogene Daten, in diesem Ereignis angezeigt',
    tag: 'personenbezogen',
    changeEncrypted: 'verschlüsselt',
    changeErased: 'gelöscht',
    all: 'Alle Ereignisse dieser Person',
    show: 'Anzeigen',
    hide: 'Ausblenden',
    unavailable:
      'Die Schlüssel sind nicht erreichbar. Deshalb können die Werte jetzt nicht angezeigt werden.',
    denied: 'Ihre Rolle darf personenbezogene Daten nicht sehen.',
    stateLacks: 'Verschlüsselte und gelöschte personenbezogene Werte fehlen hier.',
    partLacks: 'Personenbezogene Werte dieser Änderung sind verschlüsselt oder gelöscht.',
    sealedTitle: (names) => `„${names}“ ist verschlüsselt`,
    sealedText:
      'Nach verschlüsselten Werten kann weder gesucht noch sortiert oder gezählt werden. Deshalb wurde nichts gesucht. Um die Ereignisse einer Person zu finden, öffnen Sie eines davon und wählen Sie „Alle Ereignisse dieser Person“.',
  },
})
