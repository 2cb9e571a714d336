//! Circles inside a crate: files that need each other to be understood.

use super::modules::{Module, read, uses};
use super::workspace::{Tier, Workspace};

/// Names every circle by its arrows.
pub fn check(workspace: &Workspace) -> Vec<String> {
    let mut wrong = Vec::new();
    for package in workspace.crates.iter().filter(|package| package.tier != Tier::Aside) {
        let modules = read(&package.sources);
        let uses = uses(&modules);
        for circle in circles(&uses) {
            let arrows = arrows(&modules, &uses, &circle).join(", ");
            wrong.push(format!("{}: a circle: {arrows}", package.name));
        }
    }
    wrong
}

/// The arrows of a circle: a module, and one that it uses.
fn arrows(modules: &[Module], uses: &[Vec<usize>], circle: &[usize]) -> Vec<String> {
    let mut arrows = Vec::new();
    for from in circle {
        for to in uses[*from].iter().filter(|to| circle.contains(to)) {
            arrows.push(format!("{} -> {}", name(&modules[*from]), name(&modules[*to])));
        }
    }
    arrows
}

fn name(module: &Module) -> String {
    if module.path.is_empty() { "the root".into() } else { module.path.join("::") }
}

/// The sets of modules each of which reaches all others of its set.
fn circles(uses: &[Vec<usize>]) -> Vec<Vec<usize>> {
    let reached: Vec<Vec<bool>> = (0..uses.len()).map(|at| reached(uses, at)).collect();
    let mut circles: Vec<Vec<usize>> = Vec::new();
    for (at, from) in reached.iter().enumerate() {
        let circle: Vec<usize> =
            (0..uses.len()).filter(|other| from[*other] && reached[*other][at]).collect();
        if circle.first() == Some(&at) && circle.len() > 1 {
            circles.push(circle);
        }
    }
    circles
}

fn reached(uses: &[Vec<usize>], from: usize) -> Vec<bool> {
    let mut reached = vec![false; uses.len()];
    let mut open = uses[from].clone();
    while let Some(at) = open.pop() {
        if !std::mem::replace(&mut reached[at], true) {
            open.extend(&uses[at]);
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::circles;

    #[test]
    fn modules_that_reach_each_other_are_a_circle() {
        let uses = vec![vec![1], vec![2], vec![0, 3], vec![4], vec![], vec![6], vec![5]];
        assert_eq!(circles(&uses), [vec![0, 1, 2], vec![5, 6]]);
    }
}
