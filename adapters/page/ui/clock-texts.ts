import { byLanguage } from '../data/language.js'

/** The texts about local times that occur twice or never, because clocks change. */
export const clockTexts = byLanguage({
  en: {
    twice: 'Clocks show this time twice',
    skipped: (time: string) => `Clocks skip this time. It stands for ${time}`,
  },
  de: {
    twice: 'Die Uhren zeigen diese Zeit zweimal',
    skipped: (time: string) => `Die Uhren überspringen diese Zeit. Sie steht für ${time}`,
  },
})
