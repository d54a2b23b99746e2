import { LOCAL } from '../data/local-zone.js'

/** A time zone to choose. */
export interface ZoneOption {
  /** An IANA name, or `local`. */
  readonly name: string
  /** The IANA name. */
  readonly zone: string
  /** Texts by which the zone is found, in lower case. */
  readonly found: readonly string[]
}

/** Cities whose zone has another name. Browsers also keep some old names of cities. */
const CITIES: Readonly<Record<string, string>> = {
  'America/Chicago': 'Dallas Houston',
  'America/Los_Angeles': 'San Francisco Seattle',
  'America/New_York': 'Boston Miami Washington',
  'America/Toronto': 'Montreal Ottawa',
  'Asia/Calcutta': 'Kolkata Bangalore Chennai Delhi Hyderabad Mumbai',
  'Asia/Katmandu': 'Kathmandu',
  'Asia/Kolkata': 'Calcutta Bangalore Chennai Delhi Hyderabad Mumbai',
  'Asia/Rangoon': 'Yangon',
  'Asia/Saigon': 'Ho Chi Minh',
  'Asia/Shanghai': 'Beijing Peking Shenzhen',
  'Asia/Tokyo': 'Osaka Tokio',
  'Australia/Sydney': 'Canberra',
  'Europe/Athens': 'Athen',
  'Europe/Berlin': 'Frankfurt Hamburg Munich München',
  'Europe/Brussels': 'Brüssel',
  'Europe/Bucharest': 'Bukarest',
  'Europe/Copenhagen': 'Kopenhagen',
  'Europe/Kiev': 'Kyiv Kiew',
  'Europe/Kyiv': 'Kiev Kiew',
  'Europe/Lisbon': 'Lissabon',
  'Europe/London': 'Edinburgh Manchester',
  'Europe/Madrid': 'Barcelona',
  'Europe/Moscow': 'Moskau',
  'Europe/Prague': 'Prag',
  'Europe/Rome': 'Milan Mailand Rom',
  'Europe/Vienna': 'Wien',
  'Europe/Warsaw': 'Warschau',
  'Europe/Zurich': 'Basel Bern Geneva Genf Zürich',
}

const wordsOf = (text: string): string[] =>
  text
    .toLowerCase()
    .split(/[\s/_]+/)
    .filter(Boolean)

const optionOf = (name: string): ZoneOption => ({
  name,
  zone: name,
  found: [...wordsOf(name), ...wordsOf(CITIES[name] ?? '')],
})

/**
 * All zones of the browser, with local time and UTC first. A search for a city does not find local time, only the
 * zone of the city.
 */
export function allZones(localZone: string, localWord: string): readonly ZoneOption[] {
  const names = Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC')
  return [
    { name: LOCAL, zone: localZone, found: wordsOf(localWord) },
    optionOf('UTC'),
    ...names.map(optionOf),
  ]
}

/** The zones that match all words of a text. A zone whose city starts with the text comes first. */
export function findZones(zones: readonly ZoneOption[], text: string): readonly ZoneOption[] {
  const words = wordsOf(text)
  const found = zones.filter(({ found }) =>
    words.every((word) => found.some((part) => part.startsWith(word))),
  )
  const isCity = ({ zone }: ZoneOption): boolean =>
    words.length > 0 && wordsOf(zone.slice(zone.lastIndexOf('/') + 1))[0]!.startsWith(words[0]!)
  return [...found.filter(isCity), ...found.filter((zone) => !isCity(zone))]
}
