import { byLanguage } from '../data/language.js'

/** The texts about facets of attributes that do not occur. Loaded on demand. */
export const facetTexts = byLanguage({
  en: {
    missing: (name: string) => `None of these events has “${name}”.`,
    use: (name: string) => `Use ${name}`,
    addAnyway: 'Add anyway',
  },
  de: {
    missing: (name: string) => `Keines dieser Ereignisse hat „${name}“.`,
    use: (name: string) => `${name} verwenden`,
    addAnyway: 'Trotzdem hinzufügen',
  },
})
