//! Published designs: generators and word lengths.
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "a test that cannot continue has failed"
)]

use designs::mathematics::{
    Contrasts, Design, DesignError, Fraction, Resolution, Screening, Size, Term, fewest_runs,
    plackett_burman,
};

/// `E=ABC`
fn generators(fraction: &Fraction) -> Vec<String> {
    let word = |factors: &[usize]| factors.iter().map(|factor| letter(*factor)).collect::<String>();
    let all = fraction.generators();
    all.iter().map(|alias| format!("{}={}", letter(alias.factor), word(&alias.product))).collect()
}

/// Without I, as is the custom.
fn letter(factor: usize) -> char {
    b"ABCDEFGHJKLMNOPQRSTUVWXYZ"[factor] as char
}

/// `AB=CE=DF` of each chain of interactions.
fn aliases(design: &Design) -> Vec<String> {
    let name = |term: &Term| {
        let name: String = term.factors.iter().map(|factor| letter(*factor)).collect();
        if term.negative { format!("-{name}") } else { name }
    };
    let mut chains = Contrasts::new(design).chains;
    chains.retain(|chain| chain.terms.len() > 1);
    chains.iter().map(|chain| chain.terms.iter().map(name).collect::<Vec<_>>().join("=")).collect()
}

fn minimum(runs: usize, factors: usize) -> Fraction {
    Fraction::minimum_aberration(runs, factors).unwrap()
}

/// As `FrF2` of R reports it.
#[test]
fn seven_factors_in_16_runs() {
    let fraction = minimum(16, 7);
    assert_eq!(generators(&fraction), ["E=ABC", "F=ABD", "G=ACD"]);
    assert_eq!(fraction.resolution(), Some(4));
    assert_eq!(
        aliases(&fraction.design()),
        ["AB=CE=DF", "AC=BE=DG", "AD=BF=CG", "AE=BC=FG", "AF=BD=EG", "AG=CD=EF", "BG=CF=DE"]
    );
}

/// Numbers of words of length 3, 4 and 5. Source: J. Chen, D. X. Sun and C. F. J. Wu, International
/// Statistical Review 61 (1993), tables 2 to 4.
const PUBLISHED: [(usize, usize, [usize; 3]); 41] = [
    (8, 4, [0, 1, 0]),
    (8, 5, [2, 1, 0]),
    (8, 6, [4, 3, 0]),
    (8, 7, [7, 7, 0]),
    (16, 5, [0, 0, 1]),
    (16, 6, [0, 3, 0]),
    (16, 7, [0, 7, 0]),
    (16, 8, [0, 14, 0]),
    (16, 9, [4, 14, 8]),
    (16, 10, [8, 18, 16]),
    (16, 11, [12, 26, 28]),
    (16, 12, [16, 39, 48]),
    (16, 13, [22, 55, 72]),
    (16, 14, [28, 77, 112]),
    (16, 15, [35, 105, 168]),
    (32, 6, [0, 0, 0]),
    (32, 7, [0, 1, 2]),
    (32, 8, [0, 3, 4]),
    (32, 9, [0, 6, 8]),
    (32, 10, [0, 10, 16]),
    (32, 11, [0, 25, 0]),
    (32, 12, [0, 38, 0]),
    (32, 13, [0, 55, 0]),
    (32, 14, [0, 77, 0]),
    (32, 15, [0, 105, 0]),
    (32, 16, [0, 140, 0]),
    (64, 7, [0, 0, 0]),
    (64, 8, [0, 0, 2]),
    (64, 9, [0, 1, 4]),
    (64, 10, [0, 2, 8]),
    (64, 11, [0, 4, 14]),
    (64, 12, [0, 6, 24]),
    (64, 13, [0, 14, 28]),
    (64, 14, [0, 22, 40]),
    (64, 15, [0, 30, 60]),
    (64, 16, [0, 43, 81]),
    (64, 17, [0, 59, 108]),
    (64, 18, [0, 78, 144]),
    (64, 19, [0, 100, 192]),
    (64, 20, [0, 125, 256]),
    (64, 32, [0, 1240, 0]),
];

#[test]
fn word_lengths() {
    for (runs, factors, words) in PUBLISHED {
        let lengths = minimum(runs, factors).word_lengths();
        assert_eq!(lengths[..3], words, "{factors} factors in {runs} runs");
    }
}

/// Every choice of columns, without the shortcuts of the search.
#[test]
fn no_choice_of_columns_in_up_to_16_runs_is_better() {
    for base in 3..=4_u32 {
        let others: Vec<u32> =
            (1..1 << base).filter(|column: &u32| !column.is_power_of_two()).collect();
        for chosen in 1_u32..1 << others.len() {
            let mut columns: Vec<u32> = (0..base).map(|bit| 1 << bit).collect();
            let members = others.iter().enumerate().filter(|(i, _)| chosen >> i & 1 == 1);
            columns.extend(members.map(|(_, column)| *column));
            if columns.len() > 9 {
                continue;
            }
            let mut words = [0; 8];
            for word in 1_u32..1 << columns.len() {
                let members = columns.iter().enumerate().filter(|(i, _)| word >> i & 1 == 1);
                let length = word.count_ones() as usize;
                if members.fold(0, |sum, (_, column)| sum ^ column) == 0 && length <= 10 {
                    words[length - 3] += 1;
                }
            }
            let found = minimum(1 << base, columns.len()).word_lengths();
            assert!(found[..] <= words[..], "{columns:?}: {words:?} is less than {found:?}");
        }
    }
}

#[test]
fn runs_that_a_resolution_takes() {
    let runs = |factors| {
        [Resolution::III, Resolution::IV, Resolution::V]
            .map(|resolution| fewest_runs(factors, resolution))
    };
    assert_eq!(runs(3), [Some(4), Some(8), Some(8)]);
    assert_eq!(runs(4), [Some(8), Some(8), Some(16)]);
    assert_eq!(runs(5), [Some(8), Some(16), Some(16)]);
    assert_eq!(runs(7), [Some(8), Some(16), Some(64)]);
    assert_eq!(runs(8), [Some(16), Some(16), Some(64)]);
    assert_eq!(runs(9), [Some(16), Some(32), None]);
    assert_eq!(runs(10), [Some(16), Some(32), None]);
    assert_eq!(runs(17), [Some(32), Some(64), None]);
    assert_eq!(runs(63), [Some(64), None, None]);
    assert_eq!(minimum(8, 3).resolution(), None);
}

#[test]
fn screening_designs() {
    let screening = |factors, size, hard: &[usize]| Screening::new(factors, size, hard);
    let runs = |factors, size| screening(factors, size, &[]).map(|screening| screening.runs());
    assert_eq!(runs(10, Size::Resolution(Resolution::III)), Ok(16));
    assert_eq!(runs(10, Size::Resolution(Resolution::IV)), Ok(32));
    assert_eq!(runs(8, Size::Resolution(Resolution::V)), Ok(64));
    assert_eq!(runs(11, Size::Runs(12)), Ok(12));
    let error = |factors, size| runs(factors, size).unwrap_err().to_string();
    assert!(error(2, Size::Runs(4)).contains("at least 3 factors"));
    assert!(error(9, Size::Resolution(Resolution::V)).ends_with("resolution IV takes 32 runs"));
    assert!(error(12, Size::Runs(12)).contains("room for 11 factors"));
    assert!(error(5, Size::Runs(28)).starts_with("no screening design has 28 runs"));
    assert!(error(3, Size::Runs(16)).contains("only 8 configurations"));
    // The last two factors are hard to change: four whole plots, and generators that name factors
    // in their own order.
    let hard = screening(7, Size::Runs(16), &[5, 6]).unwrap();
    let design = &hard.design;
    assert_eq!(design.whole_plots(&[5, 6]).len(), 4);
    for generator in &hard.generators {
        assert!(generator.factor < 5);
        for run in design.runs() {
            let product: i8 = generator.product.iter().map(|factor| run[*factor]).product();
            assert_eq!(product, run[generator.factor]);
        }
    }
    let contrasts = screening(7, Size::Runs(12), &[]).unwrap().contrasts();
    assert_eq!(contrasts.chains.len(), 11);
    assert!(contrasts.chains[7..].iter().all(|chain| chain.terms.is_empty()));
}

#[test]
fn impossible_sizes() {
    let error = |runs, factors| Fraction::minimum_aberration(runs, factors).unwrap_err();
    assert_eq!(error(12, 5), DesignError::Runs(12));
    assert_eq!(error(128, 9), DesignError::Runs(128));
    assert_eq!(error(8, 8), DesignError::Factors { runs: 8, factors: 8 });
    assert_eq!(error(16, 3), DesignError::TooManyRuns { runs: 16, factors: 3 });
}

#[test]
fn plackett_burman_columns_are_orthogonal_and_interactions_partly_aliased() {
    for runs in [12, 20, 24] {
        let design = plackett_burman(runs).unwrap();
        let contrasts = Contrasts::new(&design);
        assert_eq!(contrasts.chains.len(), runs - 1);
        assert!(contrasts.chains.iter().all(|chain| chain.terms.len() == 1));
        assert_eq!(contrasts.partial.len(), (runs - 1) * (runs - 2) / 2);
    }
    assert!(plackett_burman(16).is_none());
    let all = plackett_burman(24).unwrap();
    let few = Design::new(all.runs().iter().map(|run| run[..5].to_vec()).collect());
    let few = Contrasts::new(&few);
    assert_eq!((few.chains.len(), few.partial.len()), (5, 10));
}

#[test]
fn folding_separates() {
    let seven = minimum(8, 7).design();
    assert!(aliases(&seven).contains(&"A=BD=CE=FG".to_owned()));
    // All factors: no main effect is aliased with an interaction of two factors.
    let all = aliases(&seven.folded(None));
    assert!(all.iter().all(|chain| chain.split('=').all(|term| term.len() == 2)), "{all:?}");
    // One factor: it and its interactions are free of other effects of at most two factors.
    let aliases = aliases(&seven.folded(Some(0)));
    assert!(
        !aliases.iter().flat_map(|alias| alias.split('=')).any(|term| term.contains('A')),
        "{aliases:?}"
    );
    assert!(
        aliases.contains(&"B=CF=EG".to_owned()) || aliases.contains(&"B=CG=EF".to_owned()),
        "{aliases:?}"
    );
    // An even word changes its sign: E = ABC to E = -ABC in the second half, so that each is free.
    let folded = minimum(16, 7).design().folded(None);
    assert_eq!(folded.runs().len(), 32);
    assert_eq!(folded.blocks()[15..17], [0, 1]);
}

#[test]
fn whole_plots_hold_hard_to_change_factors() {
    let design = minimum(16, 7).design();
    let plots = design.whole_plots(&[0, 2]);
    assert_eq!(plots.len(), 4);
    let chains = Contrasts::new(&design).chains;
    let between: Vec<_> = chains
        .iter()
        .filter(|chain| chain.is_between(&plots))
        .map(|chain| chain.terms[0].factors.clone())
        .collect();
    assert_eq!(between, [vec![0], vec![2], vec![0, 2]]);
}
