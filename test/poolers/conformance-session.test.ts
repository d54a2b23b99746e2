import { describePooledStore } from './conformance.js'

describePooledStore('session')
