import { byLanguage } from '../data/language.js'

/** The texts of the choice of columns, which is loaded on demand. */
export const columnsTexts = byLanguage({
  en: {
    title: 'Columns',
    log: 'Log',
    hint: 'The columns are part of the address, and this browser keeps them. On a narrow list they shrink; on phones attributes are lines of the row.',
    earlier: (name: string) => `Move ${name} to the left`,
    later: (name: string) => `Move ${name} to the right`,
    remove: (name: string) => `Remove ${name}`,
    width: (name: string) => `Width of ${name} in pixels`,
    add: 'Add a column',
    attribute: 'any attribute',
    addIt: 'Add',
    time: 'Time column',
    timeHint:
      'The time column can show another time, such as occurred_at. Order, range and chart stay on created_at, the time of recording.',
    timeHeader: (name: string) => `${name} (order: created_at)`,
    reset: 'Reset',
    done: 'Done',
    full: 'There are 12 columns at most',
    resize: 'Drag to change the width; with the keyboard Shift and ← or →',
  },
  de: {
    title: 'Spalten',
    log: 'Protokoll',
    hint: 'Die Spalten stehen in der Adresse, und dieser Browser behält sie. In einer schmalen Liste werden sie schmaler; auf Telefonen sind Attribute Zeilen des Eintrags.',
    earlier: (name: string) => `${name} nach links verschieben`,
    later: (name: string) => `${name} nach rechts verschieben`,
    remove: (name: string) => `${name} entfernen`,
    width: (name: string) => `Breite von ${name} in Pixeln`,
    add: 'Spalte hinzufügen',
    attribute: 'beliebiges Attribut',
    addIt: 'Hinzufügen',
    time: 'Zeitspalte',
    timeHint:
      'Die Zeitspalte kann eine andere Zeit zeigen, etwa occurred_at. Reihenfolge, Zeitraum und Diagramm richten sich weiter nach created_at, der Zeit der Aufzeichnung.',
    timeHeader: (name: string) => `${name} (Reihenfolge: created_at)`,
    reset: 'Zurücksetzen',
    done: 'Fertig',
    full: 'Es gibt höchstens 12 Spalten',
    resize: 'Zum Ändern der Breite ziehen; mit der Tastatur Umschalt und ← oder →',
  },
})
