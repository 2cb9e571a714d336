//! Hash maps. Keys are hashed as programs do that say nothing about it (`SipHash`).

use super::Table;
use dashmap::DashMap;
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError, RwLock};

fn filled(members: usize) -> impl Iterator<Item = (usize, u64)> {
    (0..members).map(|member| (member, 0))
}

/// A map under one mutex.
pub struct MutexMap(Mutex<HashMap<usize, u64>>);

impl MutexMap {
    pub fn new(members: usize) -> Self {
        Self(Mutex::new(filled(members).collect()))
    }
}

impl Table for MutexMap {
    #[inline]
    fn add(&self, _: usize, member: usize, acquired: impl FnOnce()) {
        let mut map = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        acquired();
        *map.entry(member).or_default() += 1;
    }

    #[inline]
    fn read(&self, _: usize, member: usize, acquired: impl FnOnce()) -> u64 {
        let map = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        acquired();
        map.get(&member).copied().unwrap_or(0)
    }

    fn sum(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().sum()
    }

    fn shared_lines(&self) -> Option<u32> {
        None
    }
}

/// A map under one lock that readers share.
pub struct RwLockMap(RwLock<HashMap<usize, u64>>);

impl RwLockMap {
    pub fn new(members: usize) -> Self {
        Self(RwLock::new(filled(members).collect()))
    }
}

impl Table for RwLockMap {
    #[inline]
    fn add(&self, _: usize, member: usize, acquired: impl FnOnce()) {
        let mut map = self.0.write().unwrap_or_else(PoisonError::into_inner);
        acquired();
        *map.entry(member).or_default() += 1;
    }

    #[inline]
    fn read(&self, _: usize, member: usize, acquired: impl FnOnce()) -> u64 {
        let map = self.0.read().unwrap_or_else(PoisonError::into_inner);
        acquired();
        map.get(&member).copied().unwrap_or(0)
    }

    fn sum(&self) -> u64 {
        self.0.read().unwrap_or_else(PoisonError::into_inner).values().sum()
    }

    fn shared_lines(&self) -> Option<u32> {
        None
    }
}

/// A map with locks over parts of it, four a processor.
pub struct ConcurrentMap(DashMap<usize, u64>);

impl ConcurrentMap {
    pub fn new(members: usize) -> Self {
        Self(filled(members).collect())
    }
}

impl Table for ConcurrentMap {
    #[inline]
    fn add(&self, _: usize, member: usize, acquired: impl FnOnce()) {
        let mut entry = self.0.entry(member).or_default();
        acquired();
        *entry += 1;
    }

    #[inline]
    fn read(&self, _: usize, member: usize, acquired: impl FnOnce()) -> u64 {
        let entry = self.0.get(&member);
        acquired();
        entry.map_or(0, |entry| *entry)
    }

    fn sum(&self) -> u64 {
        self.0.iter().map(|entry| *entry).sum()
    }

    fn shared_lines(&self) -> Option<u32> {
        None
    }
}
