import { DatabaseSync } from 'node:sqlite'

/* The part of better-sqlite3's interface that tests use, on handles of `node:sqlite`. */

/** Parameters may be given as one array. */
const spread = (params) => (Array.isArray(params[0]) ? params[0] : params)

const accepting = (statement) =>
  Object.fromEntries(
    ['run', 'get', 'all', 'iterate'].map((name) => {
      const real = statement[name]
      return [name, (...params) => real.apply(statement, spread(params))]
    }),
  )

const methods = {
  raw(toggle = true) {
    this.setReturnArrays(toggle)
    return this
  },
  safeIntegers(toggle = true) {
    this.setReadBigInts(toggle)
    return this
  },
  /** Rows become their first columns. */
  pluck() {
    this.setReturnArrays(true)
    const { get, all } = this
    return Object.assign(this, {
      get: (...params) => get.apply(this, params)?.[0],
      all: (...params) => all.apply(this, params).map(([first]) => first),
    })
  },
}

export default class Database extends DatabaseSync {
  #safeIntegers = false

  constructor(filename, { timeout = 5000, readonly = false } = {}) {
    super(filename, { timeout, readOnly: readonly })
    Object.defineProperties(this, {
      name: { value: filename },
      open: { get: () => this.isOpen },
      inTransaction: { get: () => this.isTransaction },
    })
  }

  prepare(sql) {
    const statement = super.prepare(sql)
    Object.assign(statement, methods, accepting(statement))
    statement.setReadBigInts(this.#safeIntegers)
    return statement
  }

  exec(sql) {
    super.exec(sql)
    return this
  }

  pragma(source, { simple = false } = {}) {
    const statement = this.prepare(`PRAGMA ${source}`)
    return simple ? statement.pluck().get() : statement.all()
  }

  defaultSafeIntegers(toggle = true) {
    this.#safeIntegers = toggle
    return this
  }

  transaction(act) {
    return (...args) => {
      const [begin, commit, rollback] = this.isTransaction
        ? ['SAVEPOINT act', 'RELEASE act', 'ROLLBACK TO act; RELEASE act']
        : ['BEGIN', 'COMMIT', 'ROLLBACK']
      this.exec(begin)
      try {
        const result = act(...args)
        this.exec(commit)
        return result
      } catch (error) {
        if (this.isTransaction) this.exec(rollback)
        throw error
      }
    }
  }
}
