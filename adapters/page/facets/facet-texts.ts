import { byLanguage } from '../data/language.js'

/** The texts about facets of attributes that do not occur. Loaded on demand. */
export const facetTexts = byLanguage({
  en: {
    missing: (name: string) => `None of these events has “${name}”.`,
    use: (name: string) => `Use ${name}`,
    addAnyway: 'Add anyway',
    concealed: 'You may not see this attribute, or its values are encrypted.',
  },
  de: {
    missing: (name: string) => `Keines dieser Ereignisse hat „${name}“.`,
    use: (name: string) => `${name} verwenden`,
    addAnyway: 'Trotzdem hinzufügen',
    concealed: 'Dieses Attribut ist für Sie nicht sichtbar, oder seine Werte sind verschlüsselt.',
  },
})
