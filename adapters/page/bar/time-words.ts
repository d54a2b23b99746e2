/** The words of typed times, in lower case. Each list has the alternatives of one meaning. */
export interface TimeWords {
  readonly today: readonly string[]
  readonly yesterday: readonly string[]
  /** The names of each day, Monday first. */
  readonly weekdays: readonly (readonly string[])[]
  readonly since: readonly string[]
  readonly before: readonly string[]
  readonly until: readonly string[]
  /** Words before the first of two times. */
  readonly between: readonly string[]
  /** Words between two times. */
  readonly to: readonly string[]
  readonly this: readonly string[]
  readonly last: readonly string[]
  readonly units: Readonly<Record<'m' | 'h' | 'd' | 'w' | 'month', readonly string[]>>
  /** Words after an hour without minutes. */
  readonly oClock: readonly string[]
}

export const ENGLISH: TimeWords = {
  today: ['today'],
  yesterday: ['yesterday'],
  weekdays: [
    ['monday', 'mon'],
    ['tuesday', 'tue'],
    ['wednesday', 'wed'],
    ['thursday', 'thu'],
    ['friday', 'fri'],
    ['saturday', 'sat'],
    ['sunday', 'sun'],
  ],
  since: ['since', 'after'],
  before: ['before'],
  until: ['until', 'till'],
  between: ['between', 'from'],
  to: ['to', 'and', 'until', 'till'],
  this: ['this'],
  last: ['last', 'past', 'previous'],
  units: {
    m: ['minute', 'minutes', 'min'],
    h: ['hour', 'hours'],
    d: ['day', 'days'],
    w: ['week', 'weeks'],
    month: ['month'],
  },
  oClock: ["o'clock"],
}

export const GERMAN: TimeWords = {
  today: ['heute'],
  yesterday: ['gestern'],
  weekdays: [
    ['montag', 'mo'],
    ['dienstag', 'di'],
    ['mittwoch', 'mi'],
    ['donnerstag', 'do'],
    ['freitag', 'fr'],
    ['samstag', 'sa', 'sonnabend'],
    ['sonntag', 'so'],
  ],
  since: ['seit', 'ab', 'nach'],
  before: ['vor'],
  until: ['bis'],
  between: ['zwischen', 'von'],
  to: ['bis', 'und'],
  this: ['diese', 'dieser', 'diesen', 'dieses'],
  last: ['letzte', 'letzter', 'letzten', 'letztes', 'vergangene', 'vergangenen'],
  units: {
    m: ['minute', 'minuten', 'min'],
    h: ['stunde', 'stunden', 'std'],
    d: ['tag', 'tage', 'tagen'],
    w: ['woche', 'wochen'],
    month: ['monat'],
  },
  oClock: ['uhr'],
}
