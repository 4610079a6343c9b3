#!/usr/bin/env node
import '../src/feeder/main.node.js'
